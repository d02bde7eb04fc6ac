"""Writes the Keras test files with the Keras that is installed, and into the folder that is given.

usage: write_keras.py FOLDER     (Keras 2.15.0 of tensorflow-cpu 2.15.1; Keras 3.15.1 with KERAS_BACKEND=numpy, scipy, jax)

A convolution named to come last in the alphabet, normalisation, dropout, and dense layers enough that "dense_10" stands
beside "dense_2". The optimizer has state, the dropout layer of Keras 3 the state of its random numbers.
"""
import sys
from pathlib import Path

import keras

folder = Path(sys.argv[1])
kind = f"keras{keras.__version__[0]}"


def build(dense: int, compiled: bool) -> keras.Model:
    keras.backend.clear_session()
    layers = [keras.layers.Input((6, 6, 1)), keras.layers.Conv2D(4, 3, name="zebra"), keras.layers.BatchNormalization(),
              keras.layers.Flatten(), keras.layers.Dropout(0.5), *[keras.layers.Dense(3) for _ in range(dense)]]
    model = keras.Sequential(layers)
    if compiled:
        model.compile(optimizer=keras.optimizers.Adam(), loss="mse", metrics=["mae"])
        model.optimizer.build(model.trainable_variables)
    return model


build(2, True).save(folder / f"{kind}.keras")
build(2, True).save(folder / f"{kind}_model.h5")
build(11, False).save_weights(folder / f"{kind}.weights.h5")
if kind == "keras2":
    build(11, False).save_weights(folder / f"{kind}_legacy.h5")  # Keras 3 writes .weights.h5 alone.
