"""Networks for text and for recommendation: embeddings and what follows them."""
from __future__ import annotations

from .rows import Inventory, Row


def bert_base() -> Inventory:
    """Hugging Face's BertModel with its pooler, for 128 tokens. Attention's two products are counted with its output."""
    made, width, tokens = Inventory(), 768, 128
    for name, rows in (("word", 30_522), ("position", 512), ("token_type", 2)):
        made.table(f"embeddings.{name}_embeddings", rows, width)
    made.norm_over("embeddings.LayerNorm", width, tokens)
    for i in range(12):
        layer = f"encoder.layer.{i}"
        for name in ("query", "key", "value"):
            made.linear(f"{layer}.attention.self.{name}", width, width, tokens)
        made.linear(f"{layer}.attention.output.dense", width, width, tokens, more=2 * tokens * tokens * width)
        made.norm_over(f"{layer}.attention.output.LayerNorm", width, tokens)
        made.linear(f"{layer}.intermediate.dense", width, 4 * width, tokens)
        made.linear(f"{layer}.output.dense", 4 * width, width, tokens)
        made.norm_over(f"{layer}.output.LayerNorm", width, tokens)
    made.linear("pooler.dense", width, width)
    return made


def turned(made: Inventory, name: str, inputs: int, outputs: int, tokens: int, more: int = 0) -> None:
    """GPT-2 keeps its weights as [in, out]."""
    made.rows.append(Row(f"{name}.weight", (inputs, outputs), inputs * outputs * tokens + more))
    made.bias(name, outputs)


def gpt2() -> Inventory:
    """Hugging Face's GPT2LMHeadModel, the smallest, for 1,024 tokens. The last layer multiplies by the word embedding
    again, so its multiply-adds stand there. Attention's two products, all of the square, are counted with its output."""
    made, width, tokens, words = Inventory(), 768, 1024, 50_257
    made.rows.append(Row("transformer.wte.weight", (words, width), words * width * tokens))
    made.table("transformer.wpe", tokens, width)
    for i in range(12):
        layer = f"transformer.h.{i}"
        made.norm_over(f"{layer}.ln_1", width, tokens)
        turned(made, f"{layer}.attn.c_attn", width, 3 * width, tokens)
        turned(made, f"{layer}.attn.c_proj", width, width, tokens, more=2 * tokens * tokens * width)
        made.norm_over(f"{layer}.ln_2", width, tokens)
        turned(made, f"{layer}.mlp.c_fc", width, 4 * width, tokens)
        turned(made, f"{layer}.mlp.c_proj", 4 * width, width, tokens)
    made.norm_over("transformer.ln_f", width, tokens)
    return made


# Distinct values of C1 to C8, the first eight of 26 categorical columns of the Criteo Kaggle set, as facebookresearch/dlrm
# counts them (its --arch-embedding-size for that set).
CRITEO_KAGGLE = (1_460, 583, 10_131_227, 2_202_608, 305, 24, 12_517, 633)


def dlrm() -> Inventory:
    """facebookresearch/dlrm, bench/dlrm_s_criteo_kaggle.sh, with eight tables: width 16, below 13-512-256-64-16, above
    512-256-1 on the dense vector and the products of all pairs of nine vectors. Names and order of DLRM_Net."""
    made, width = Inventory(), 16
    for i, rows in enumerate(CRITEO_KAGGLE):
        made.table(f"emb_l.{i}", rows, width)
    vectors = len(CRITEO_KAGGLE) + 1
    pairs = vectors * (vectors - 1) // 2
    for name, widths, more in (("bot_l", (13, 512, 256, 64, width), 0), ("top_l", (width + pairs, 512, 256, 1), pairs * width)):
        for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
            made.linear(f"{name}.{2 * i}", inputs, outputs, more=more if i == 0 else 0)
    return made
