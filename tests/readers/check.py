"""Reads what a job left with pandas, polars and DuckDB, and fails unless they agree.

    check.py finished JOB DATASET   a job with a verdict: every table, and every number that another table repeats
    check.py failed JOB             the rows that main.rs makes by hand: failures, awkward ids, extreme numbers
    check.py empty JOB              a job without any row
    check.py large JOB              a job with a verdict that stored the means of most candidates instead of their rows
    check.py rows JOB               nothing but rows, as a job that was killed leaves them
"""

import json
import math
import sys
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow.parquet

# The three sum in different orders, which moves the last bits of a mean.
TOLERANCE = 1e-12


def check(condition, message):
    if not condition:
        sys.exit(f"check failed: {message}")


class Pandas:
    def __init__(self, path):
        self.table = pandas.read_parquet(path)

    def columns(self):
        return list(self.table.columns)

    def records(self):
        cells = self.table.astype(object)
        cells = cells.where(self.table.notna(), None)
        return list(cells.itertuples(index=False, name=None))

    def means(self, keys, columns):
        grouped = self.table.groupby(keys)[columns].mean()
        index = grouped.index if len(keys) > 1 else [(key,) for key in grouped.index]
        return {key: list(row) for key, row in zip(index, grouped.itertuples(index=False))}


class Polars:
    def __init__(self, path):
        self.table = polars.read_parquet(path)
        for name, kind in self.table.schema.items():
            if kind in (polars.Float32, polars.Float64):
                check(not self.table[name].is_nan().any(), f"`{name}` of {path} holds NaN")

    def columns(self):
        return self.table.columns

    def records(self):
        return self.table.rows()

    def means(self, keys, columns):
        grouped = self.table.group_by(keys).agg([polars.col(name).mean() for name in columns])
        return {row[: len(keys)]: list(row[len(keys) :]) for row in grouped.rows()}


class DuckDb:
    def __init__(self, path):
        self.connection = duckdb.connect()
        files = str(path / "*.parquet") if path.is_dir() else str(path)
        self.table = self.connection.read_parquet(files)
        for name, kind in zip(self.table.columns, self.table.types):
            if kind in ("FLOAT", "DOUBLE"):
                found = self.table.aggregate(f"count(*) filter (isnan({name}))").fetchall()[0][0]
                check(found == 0, f"`{name}` of {path} holds NaN")

    def columns(self):
        return self.table.columns

    def records(self):
        return self.table.fetchall()

    def means(self, keys, columns):
        keys = ", ".join(keys)
        means = ", ".join(f"avg({name})" for name in columns)
        rows = self.table.aggregate(f"{keys}, {means}", keys).fetchall()
        count = keys.count(",") + 1
        return {row[:count]: list(row[count:]) for row in rows}


READERS = (Pandas, Polars, DuckDb)


class Table:
    """One folder or file, after all three have read it and have found the same cells."""

    def __init__(self, path):
        self.path = path
        if path.is_dir():
            names = [entry.name for entry in path.iterdir()]
            check(names, f"{path} is empty")
            check(all(name.endswith(".parquet") for name in names), f"{path} holds {names}")
            schemas = [pyarrow.parquet.read_schema(path / name) for name in sorted(names)]
            same = all(schema.equals(schemas[0]) for schema in schemas)
            check(same, f"the files of {path} have different columns")
        self.readers = [reader(path) for reader in READERS]
        first, *others = (reader.columns() for reader in self.readers)
        self.columns = list(first)
        check(all(list(other) == self.columns for other in others), f"columns of {path} differ")
        for name in self.columns:
            check(name.isidentifier(), f"`{name}` has to be quoted in DuckDB and pandas")
        first, *others = (sorted(reader.records(), key=order) for reader in self.readers)
        check(all(other == first for other in others), f"cells of {path} differ")
        self.rows = [dict(zip(self.columns, row)) for row in first]
        print(f"{path.name}: {len(self.rows)} rows and {len(self.columns)} columns, the same in pandas, polars and DuckDB")

    def texts(self, *names):
        for name in names:
            wrong = [row[name] for row in self.rows if not isinstance(row[name], str)]
            check(not wrong, f"`{name}` of {self.path} is not text: {wrong[:3]}")

    def means(self, keys, columns):
        """Means by key, after all three have found the same."""
        first, *others = (reader.means(keys, columns) for reader in self.readers)
        for other in others:
            check(first.keys() == other.keys(), f"{self.path} has other groups")
            for key, means in first.items():
                for name, one, two in zip(columns, means, other[key]):
                    close(one, two, f"mean of `{name}` for {key} in {self.path}")
        return first


def order(row):
    # Empty cells have no order of their own.
    return [(cell is not None, cell) for cell in row]


def close(one, two, what):
    absent = [value is None or math.isnan(value) for value in (one, two)]
    check(all(absent) or (not any(absent) and abs(one - two) <= TOLERANCE), f"{what}: {one} and {two}")


def scored(table):
    return [name for name in table.columns if name.startswith("scored_")]


def finished(job, dataset):
    verdict = json.loads((job / "verdict.json").read_text())
    rows, hits, relevant, timings = (Table(job / name) for name in ("rows", "hits", "relevant", "timings"))
    candidates = Table(job / "candidates.parquet")
    # What else the job left has no number that another table repeats, and has to be read alike all the same.
    others = [path for path in sorted(job.iterdir()) if path.suffix == ".parquet" and path != candidates.path]
    for path in [job / "condensed", job / "unjudged", *others]:
        Table(path)
    rows.texts("job", "candidate", "split", "query")
    hits.texts("candidate", "query", "document", "matched_fields")
    relevant.texts("candidate", "query", "document")
    candidates.texts("job", "candidate", "labels", "config")
    check({row["job"] for row in rows.rows} == {verdict["job"]}, "rows are of one job")
    documents = polars.read_parquet(dataset / "documents.parquet")["id"].to_list()
    unknown = {row["document"] for row in hits.rows + relevant.rows}.difference(documents)
    check(not unknown, f"documents are spelt as the dataset spells them, not {sorted(unknown)[:3]}")
    queries = polars.read_parquet(dataset / "queries.parquet")
    weights = dict(zip(queries["id"], queries["weight"]))

    columns = scored(rows)
    means = rows.means(["split", "candidate"], columns)
    check_counts(verdict, rows, candidates, timings)
    check_candidates(rows, candidates, means, columns)
    check_verdict(verdict, rows, weights)
    check_hits(verdict, rows, hits, relevant)


def check_counts(verdict, rows, candidates, timings):
    queries = verdict["provenance"]["queries"]
    count = {fold: 0 for fold in queries}
    for row in rows.rows:
        count[row["split"]] += 1
    distinct = verdict["candidates"]
    check(len(candidates.rows) == distinct, "every candidate has one row in candidates.parquet")
    judged = {verdict["best"]["id"], verdict["baseline"]["id"]}
    for fold, size in queries.items():
        wanted = size * (len(judged) if fold == "holdout" else distinct)
        check(count[fold] == wanted, f"{count[fold]} rows of fold {fold}, {wanted} are planned")
    pairs = {(row["split"], row["candidate"], row["query"]) for row in rows.rows}
    check(len(pairs) == len(rows.rows), "a candidate was evaluated twice on one query")
    timed = sum(row["queries"] * row["candidates"] for row in timings.rows)
    check(timed == len(rows.rows), "timings cover every row")


def check_candidates(rows, candidates, means, columns):
    """The means of candidates.parquet are those of its rows, and are empty where there are none."""
    for row in candidates.rows:
        for fold in ("train", "holdout", "all"):
            found = means.get((fold, row["candidate"]), [None] * len(columns))
            for name, mean in zip(columns, found):
                column = f"{fold}_{name.removeprefix('scored_')}"
                close(row[column], mean, f"`{column}` of {row['candidate']}")


def check_verdict(verdict, rows, weights):
    """The numbers of the verdict are means of the rows by the traffic of the queries, which is 1 unless they have one."""
    unknown = {row["query"] for row in rows.rows}.difference(weights)
    check(not unknown, f"queries are spelt as the dataset spells them, not {sorted(unknown)[:3]}")

    def mean(fold, side, name):
        chosen = [row for row in rows.rows if row["split"] == fold and row["candidate"] == verdict[side]["id"]]
        total = math.fsum(weights[row["query"]] * row[name] for row in chosen)
        return total / math.fsum(weights[row["query"]] for row in chosen)

    columns = scored(rows)
    fold = verdict["judged_on"]
    check(len(verdict["metrics"]) == len(columns), "the verdict has every metric")
    for metric, name in zip(verdict["metrics"], columns):
        before, after = mean(fold, "baseline", name), mean(fold, "best", name)
        close(metric["baseline"], before, f"{metric['metric']} of the baseline")
        close(metric["candidate"], after, f"{metric['metric']} of the candidate")
        close(metric["delta"], after - before, f"change of {metric['metric']}")
    if verdict["selection"]:
        delta = mean("train", "best", columns[0]) - mean("train", "baseline", columns[0])
        close(verdict["selection"]["train_delta"], delta, "change on the train queries")


def check_hits(verdict, rows, hits, relevant):
    """Counts and judged shares of the rows are those of the hits; ranks of relevant documents are those of the hits."""
    depth = verdict["provenance"]["depth"]
    found, ranks = {}, {}
    for hit in hits.rows:
        key = hit["candidate"], hit["query"]
        ranks[*key, hit["document"]] = hit["rank"]
        if hit["rank"] <= depth:
            found.setdefault(key, {})[hit["rank"]] = hit["grade"]
    examined = {verdict["best"]["id"], verdict["baseline"]["id"]}
    for row in rows.rows:
        if row["candidate"] not in examined:
            continue
        grades = found.get((row["candidate"], row["query"]), {})
        check(sorted(grades) == list(range(1, row["hits_returned"] + 1)), f"ranks of {row['query']}")
        check(row["zero_result"] == (not grades), f"zero result of {row['query']}")
        judged = [grade for grade in grades.values() if grade is not None]
        close(row["judged_share"], len(judged) / len(grades) if grades else None, f"judged share of {row['query']}")
    shown = max(hit["rank"] for hit in hits.rows)
    for row in relevant.rows:
        rank = ranks.get((row["candidate"], row["query"], row["document"]))
        deeper = row["rank"] is None or row["rank"] > shown
        check(deeper if rank is None else rank == row["rank"], f"rank of {row['document']} for {row['query']}")
    check(any(row["rank"] is not None for row in relevant.rows), "a relevant document is found")


def failed(job):
    rows = Table(job / "rows")
    rows.texts("query", "candidate", "rewrite_status", "rerank_status")
    # The ids of tests/readers/main.rs: numbers that are not numbers, and two ways to write one letter.
    ids = {"0545010225", "545010225", "9007199254740993", "caf\u00e9", "cafe\u0301", "true", "1e5"}
    check({row["query"] for row in rows.rows} == ids, f"ids are {sorted(row['query'] for row in rows.rows)}")
    answered = [row for row in rows.rows if row["failure"] is None]
    check(len(answered) == 1 and answered[0]["value_ndcg_10"] == 1.0, "one query was answered")
    # A mean of measured values is over what was measured; one of scored values counts a failure as the worst.
    means = rows.means(["candidate"], ["value_ndcg_10", "scored_ndcg_10", "scored_zero_result"])
    check(set(map(tuple, means.values())) == {(1.0, 1 / 7, 6 / 7)}, f"means are {means}")
    check(answered[0]["top_digest"] == 2**64 - 2, "64 bits are read back")
    # The nearest f64 to 0.1, which an f32 on the way would have changed.
    check(answered[0]["judged_share"] == 0.1, "f64 is read back")
    pandas_table, _, duck = rows.readers
    check(len(pandas_table.table.query("scored_ndcg_10 == 1")) == 1, "names need no quotes in pandas")
    share = duck.table.aggregate("avg(zero_result::int)").fetchall()[0][0]
    check(share == pandas_table.table["zero_result"].mean(), "the documented mean of a bool")


def empty(job):
    rows = Table(job / "rows")
    check(not rows.rows and scored(rows), "no row, and the columns of any other job")


def large(job):
    """A job above `max_rows`: means of all candidates, rows of baseline and best."""
    verdict = json.loads((job / "verdict.json").read_text())
    rows, means = (Table(job / name) for name in ("rows", "means"))
    means.texts("job", "candidate", "split")
    candidates = Table(job / "candidates.parquet")
    check(len(means.rows) == len(candidates.rows), "every candidate has its means")
    check(verdict["rows_left_out"]["candidates"] == len(candidates.rows) - 2, "the verdict says how many")
    of_rows = rows.means(["split", "candidate"], scored(rows))
    own = {row["candidate"]: row for row in means.rows}
    for row in candidates.rows:
        for name in scored(rows):
            slug = name.removeprefix("scored_")
            close(own[row["candidate"]][f"mean_{slug}"], row[f"train_{slug}"], f"mean of `{slug}`")
    for side in ("baseline", "best"):
        id = verdict[side]["id"]
        found = [own[id][f"mean_{name.removeprefix('scored_')}"] for name in scored(rows)]
        for mean, from_rows in zip(found, of_rows["train", id]):
            close(mean, from_rows, f"means of {side} and those of its rows")


def only_rows(job):
    rows = Table(job / "rows")
    check(rows.rows, "there are rows")
    rows.means(["candidate"], scored(rows))


if __name__ == "__main__":
    command, *folders = sys.argv[1:]
    checks = {"finished": finished, "failed": failed, "empty": empty, "large": large, "rows": only_rows}
    checks[command](*map(Path, folders))
