# Java and, from PyPI into a cache folder, Spark 4, for $python. For scripts to source.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tailcut-bench
command -v javac >/dev/null || apt-get install -y openjdk-17-jdk-headless >/dev/null
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
python=$cache/venv/bin/python
"$python" -c 'import pyspark' 2>/dev/null || "$cache/venv/bin/pip" install -q 'pyspark>=4,<5'
