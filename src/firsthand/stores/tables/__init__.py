"""One owner's rows behind the ports, written once for every dialect of SQL.

The tables here speak in the names of queries; a back end brings the statements (`queries.sql`), the connection that
runs them (`queries.Queries`) and how a transaction begins and ends.
"""
