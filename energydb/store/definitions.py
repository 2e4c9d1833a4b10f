"""What a database file defines, each thing as DuckDB knows it: tables, views, macros, columns, and their comments."""

import functools
import re
import tempfile
from pathlib import Path

import duckdb

from energydb.store.database import writing
from energydb.store.sandbox import reading
from energydb.store.schema import create_macros, lay_out

# What DuckDB knows each thing by: its SQL, and its own and its columns' comments. Tables by their columns and
# constraints, which a migrated file has in another order than a new one.
_DEFINITIONS = """
    select
        duckdb_tables.table_name,
        'table',
        concat(any_value(named.columns), string_agg(kept.definition, ', ' order by kept.definition)),
        any_value(duckdb_tables.comment)
    from duckdb_tables()
    join (
        select table_name, string_agg(column_name, ', ' order by column_name) as columns
        from duckdb_columns()
        where schema_name = 'main'
        group by table_name
    ) as named on named.table_name = duckdb_tables.table_name
    left join (
        select table_name, concat(constraint_text, ' of ', cast(constraint_column_names as varchar)) as definition
        from duckdb_constraints()
        where schema_name = 'main'
    ) as kept on kept.table_name = duckdb_tables.table_name
    where duckdb_tables.schema_name = 'main'
    group by duckdb_tables.table_name
    union all
    select view_name, 'view', sql, comment from duckdb_views() where not internal and schema_name = 'main'
    union all
    -- Each file's macros hold its own digest, wherever that is to be found.
    select
        function_name,
        'macro',
        replace(
            concat(array_to_string(parameters, ', '), ' as ', macro_definition),
            coalesce(
                (select any_value(digest) from build),
                nullif(regexp_extract(macro_definition, '[0-9a-f]{64}'), ''),
                'any build'
            ),
            'any build'
        ),
        comment
    from duckdb_functions()
    where function_type = 'table_macro' and not internal and schema_name = 'main'
    union all
    select concat(table_name, '.', column_name), 'column', data_type, comment
    from duckdb_columns()
    where not internal and schema_name = 'main'
"""

Definitions = dict[tuple[str, str], tuple[str | None, ...]]


@functools.cache
def as_made_now() -> Definitions:
    """Return the definitions of an empty file, made for this: as DuckDB reads them back, which is not as given."""
    with tempfile.TemporaryDirectory(prefix="energydb-") as folder:
        empty = Path(folder) / "empty.duckdb"
        with writing(empty) as making:
            lay_out(making)
            create_macros(making)
        with reading(empty) as fresh:
            return defined(fresh)


def defined(connection: duckdb.DuckDBPyConnection) -> Definitions:
    """Return every definition by name and kind: with its SQL or type, and its comment."""
    rows = connection.execute(_DEFINITIONS).fetchall()
    return {(name, kind): (name, kind, _with_lists_in_order(said), comment) for name, kind, said, comment in rows}


def _with_lists_in_order(sql: str) -> str:
    """Put the names that a star leaves out in order: DuckDB shuffles them whenever it writes a view."""
    return re.sub(r"EXCLUDE \(([^()]*)\)", lambda names: f"EXCLUDE {sorted(names[1].split(', '))}", sql)
