"""Damages tables on the local file system: edits their metadata files, as a faulty writer would write them.

Manifests and manifest lists are edited as the JSON of Avro: a value of a union is an object whose only key is its type,
such as `{"long": 3}`, and bytes are text in ISO 8859-1. Edited files get new names, so no cache has their old contents.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any, Callable

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from pyspark_iceberg import Table

# The records of an Avro file, or the content of a metadata file.
Record = dict[str, Any]


class DamagedTable:
    """A table of a file-system catalog whose metadata can be edited.

    Attributes:
        table: the table.
    """

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark: Any = spark
        self.table = Table(spark, name)

    @property
    def folder(self) -> Path:
        """The directory of the table."""
        return Path(self.table.location.removeprefix("file:"))

    def data_files(self) -> list[Path]:
        """Return the paths of the live data files, the oldest row first."""
        # Files have no row ids before version 3.
        rows = self.table.metadata("data_files").orderBy("first_row_id", "readable_metrics.id.lower_bound").collect()
        return [Path(row["file_path"].removeprefix("file:")) for row in rows]

    def edit_metadata(self, edit: Callable[[Record], None]) -> None:
        """Edit the metadata file, and make the result the current version."""
        newest = max(_version(path) for path in self._metadata.glob("v*.metadata.json"))
        document = json.loads((self._metadata / f"v{newest}.metadata.json").read_text(encoding="utf-8"))
        edit(document)
        changed = self._metadata / f"v{newest + 1}.metadata.json"
        changed.write_text(json.dumps(document), encoding="utf-8")
        self._spark.sql(f"REFRESH TABLE {self.table.name}")

    def edit_snapshot(self, edit: Callable[[Record], None]) -> None:
        """Edit the current snapshot in the metadata file."""
        self.edit_metadata(lambda document: edit(document["snapshots"][-1]))

    def edit_manifest_list(self, edit: Callable[[list[Record]], None]) -> None:
        """Edit the records of the manifest list of the current snapshot; the newest manifest is the first one."""
        self.edit_snapshot(lambda snapshot: snapshot.update({"manifest-list": self._edit(_list(snapshot), edit)}))

    def edit_entries(self, edit: Callable[[list[Record]], None], manifest: int = 0) -> None:
        """Edit the entries of a manifest of the current snapshot. The manifest list has the new length."""

        def replace(records: list[Record]) -> None:
            path = self._edit(records[manifest]["manifest_path"], edit)
            records[manifest].update(manifest_path=path, manifest_length=Path(path).stat().st_size)

        self.edit_manifest_list(replace)

    def edit_root(self, edit: Callable[[list[Record]], None]) -> None:
        """Edit the entries of the root manifest of the current snapshot (format version 4)."""

        def replace(snapshot: Record) -> None:
            root = pq.read_table(_list(snapshot))
            entries = root.to_pylist()
            edit(entries)
            path = self._metadata / f"root-{uuid.uuid4()}.parquet"
            pq.write_table(type(root).from_pylist(entries, root.schema), path)
            snapshot["manifest-list"] = str(path)
            snapshot["summary"]["root-manifest-length"] = str(path.stat().st_size)

        self.edit_snapshot(replace)

    @property
    def _metadata(self) -> Path:
        return self.folder / "metadata"

    def _edit(self, path: str, edit: Callable[[list[Record]], None]) -> str:
        avro, io = self._spark._jvm.org.apache.avro, self._spark._jvm.java.io
        reader = avro.file.DataFileReader(io.File(path.removeprefix("file:")), avro.generic.GenericDatumReader())
        schema = reader.getSchema()
        records = []
        while reader.hasNext():
            out = io.ByteArrayOutputStream()
            encoder = avro.io.EncoderFactory.get().jsonEncoder(schema, out)
            avro.generic.GenericDatumWriter(schema).write(reader.next(), encoder)
            encoder.flush()
            records.append(json.loads(out.toString("UTF-8")))
        edit(records)
        changed = self._metadata / f"{uuid.uuid4()}.avro"
        writer = avro.file.DataFileWriter(avro.generic.GenericDatumWriter(schema))
        for key in reader.getMetaKeys():
            if not key.startswith("avro."):
                writer.setMeta(key, reader.getMeta(key))
        reader.close()
        writer.create(schema, io.File(str(changed)))
        for record in records:
            decoder = avro.io.DecoderFactory.get().jsonDecoder(schema, json.dumps(record))
            writer.append(avro.generic.GenericDatumReader(schema).read(None, decoder))
        writer.close()
        return str(changed)


def _list(snapshot: Record) -> str:
    path: str = snapshot["manifest-list"]
    return path.removeprefix("file:")


def _version(path: Path) -> int:
    return int(path.name.removeprefix("v").partition(".")[0])
