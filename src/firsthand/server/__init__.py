"""Three faces of the same verbs: an HTTP API, the Model Context Protocol, and pages for people.

`routes.py` is the one table that the API and its document are made from; `gate.py` says who is calling and what they
may do; `app.py` puts requests through both; `serve.py` runs it. `mcp.py` and `web/` stand on the same verbs.
Needs the extra `[server]`; nothing here is imported by the rest of the library.
"""
