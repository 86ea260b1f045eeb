"""How well memory finds what answers a question, on public data and on a person's own questions.

    data ──> corpus.Suite ──> measuring ──> runs.Run ──> table, plot, file
             locomo.py longmemeval.py cri.py own.py       table.py plot.py runs.py

Every figure stands beside plain BM25 and plain vectors over the same rows in the same run (`ways.py`). What a figure
means is in `measures.py`. Nothing here is used when memory is in use.
"""
