"""Every reader's fuzzer runs for 20 s without a finding."""
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory(prefix="steelyard-fuzz-") as folder:
    subprocess.run([f"{sys.argv[1]}/scripts/dev/fuzz", "--seconds-each", "20", "--build", folder], check=True)
print("ok")
