package iceberglite.conformance

/** Rules of the specification sections "Scan Planning" and "Delete Formats". */
object ScanRules extends RuleBook("scans", "Scan planning and row-level deletes") {
  private val Planning = "Scan Planning"
  private val Equality = "Equality Delete Files"
  private val Position = "Position Delete Files"
  private val Vectors = "Deletion vectors (adopted version 3)"
  private val Lineage = "Row lineage (adopted version 3)"
  private val filter = "core/scan/FileFilter.scala"
  private val index = "core/scan/deletes/DeleteIndex.scala"
  private val sorted = "core/scan/deletes/SortedDeletes.scala"

  val deletedEntries: Rule =
    rule(
      "deleted-entries",
      Planning,
      "Data and delete entries with the status DELETED are not used in a scan."
    )(
      filter
    )
  val skippedManifests: Rule = rule(
    "skipped-manifests",
    Planning,
    "A manifest is not read if it has no live files or its summaries exclude matching partitions."
  )("core/scan/TableScan.scala", "spec/file/ManifestEvaluator.scala")
  val inclusiveProjection: Rule = rule(
    "inclusive-projection",
    Planning,
    "The filter is projected by the partition spec of each manifest, and drops no file with a matching row."
  )(filter, "spec/expr/Project.scala")
  val fileBounds: Rule = rule(
    "file-bounds",
    Planning,
    "A data file in a matching partition is skipped if, and only if, its counts and bounds rule out every row."
  )(
    filter,
    "spec/file/MetricsEvaluator.scala"
  )
  val residuals: Rule = rule(
    "residuals",
    Planning,
    "Predicates that a partition satisfies completely, by the strict projection, are not part of the residual."
  )("spec/expr/Residual.scala")

  val positionSequence: Rule = rule(
    "position-sequence",
    Planning,
    "Position deletes apply to data files whose data sequence number is at most that of the delete file."
  )(index, sorted)
  val positionPartition: Rule = rule(
    "position-partition",
    Planning,
    "Position deletes apply only to data files with the same partition spec and partition values."
  )(
    index
  )
  val equalitySequence: Rule = rule(
    "equality-sequence",
    Planning,
    "Equality deletes apply to data files whose data sequence number is less than that of the delete file."
  )(index, sorted)
  val equalityPartition: Rule = rule(
    "equality-partition",
    Planning,
    "Equality deletes apply to data files with the same partition spec and partition values."
  )(index)
  val globalEquality: Rule = rule(
    "global-equality",
    Planning,
    "Equality deletes with an unpartitioned partition spec apply to data files of every spec and partition."
  )(index)
  val globalEqualityOwnSpec: Rule = rule(
    "global-equality-own-spec",
    Planning,
    "Equality deletes are global if their own partition spec is unpartitioned, whatever the specs of the table and " +
      "the data files; a spec with only void fields is unpartitioned. Partition filters never skip global deletes."
  )(index, "core/scan/TableScan.scala")
  val floatingPartitions: Rule = rule(
    "floating-partitions",
    "Scan Planning, note 3",
    "Floating-point partition values are equal if their bits are equal; all NaNs are equal."
  )("spec/types/Literal.scala", index)
  val deletesByBounds: Rule = rule(
    "deletes-by-bounds",
    "Scan Planning, note 2",
    "Equality deletes are skipped if counts and bounds show that none of their keys is in the data file; missing, " +
      "truncated and promoted bounds never skip a delete that applies, and nulls match nulls."
  )("spec/file/KeyOverlap.scala", sorted)
  val deletesByFilter: Rule = rule(
    "deletes-by-filter",
    "Scan Planning, note 2",
    "Equality deletes without a key that can match the filter are skipped; their other columns are not compared with " +
      "the filter."
  )("core/scan/PartReader.scala", "core/scan/deletes/EqualityIdColumns.scala")
  val positionsNotByFilter: Rule = rule(
    "positions-not-by-filter",
    "Delete File Stats",
    "A position delete file is never skipped because of a filter on data columns."
  )("core/scan/PartReader.scala")
  val positionsByPath: Rule = rule(
    "positions-by-path",
    "Scan Planning; Position Delete Files",
    "A position delete file with a referenced_data_file, or with a single path in its bounds, applies to that file " +
      "only; other position delete files are skipped if their bounds of file_path exclude the data file's path."
  )(sorted)

  val noDeletesInVersion1: Rule =
    rule("no-deletes-in-version-1", "Delete Formats", "Version 1 tables have no delete files.")(
      "core/scan/TableScan.scala"
    )
  val vectorScope: Rule = rule(
    "vector-scope",
    Vectors,
    "A deletion vector applies to its data file, which is in the same partition and not newer than the vector. Any " +
      "other vector is an error, as is an entry without data file, offset or size."
  )(index)
  val vectorIdentity: Rule = rule(
    "vector-identity",
    Vectors,
    "A deletion vector is identified by the path of its file and its offset."
  )(
    "core/scan/deletes/DeleteFile.scala"
  )
  val oneVector: Rule =
    rule("one-vector", Vectors, "A data file has at most one deletion vector in a snapshot; two are an error.")(index)
  val vectorBeforePositions: Rule = rule(
    "vector-before-positions",
    Vectors,
    "Position delete files are ignored for a data file with a deletion vector."
  )(index)
  val vectorCardinality: Rule = rule(
    "vector-cardinality",
    Vectors,
    "The number of positions in a vector equals the record count of its entry."
  )("core/scan/deletes/DeleteReader.scala")
  val positionsAsListed: Rule = rule(
    "positions-as-listed",
    "Position Delete Files",
    "The paths in a position delete file are within the bounds of its entry, which are never truncated; other paths " +
      "mean that it is not the committed file."
  )("core/scan/deletes/DeleteReader.scala")

  val positionRows: Rule = rule(
    "position-rows",
    Position,
    "A row is deleted if a position delete file contains the path of the row's file, as written in metadata, and the " +
      "row's position."
  )("core/scan/deletes/DeleteReader.scala", "core/scan/TableRows.scala")
  val allColumnsEqual: Rule = rule(
    "all-columns-equal",
    Equality,
    "A row is deleted if it equals a row of the delete file in all columns of equality_ids; other columns of the " +
      "delete file are ignored."
  )("core/scan/deletes/KeyBuffer.scala", "spark/read/deletes/KeyTest.scala")
  val nullEqualsNull: Rule = rule(
    "null-equals-null",
    Equality,
    "A null in a delete column matches rows with null in that column."
  )(
    "core/scan/deletes/KeyBuffer.scala",
    "spark/read/deletes/KeyTest.scala"
  )
  val noNestedKeys: Rule = rule(
    "no-nested-keys",
    "Equality Delete Files; Types, defaults, transforms (adopted version 3)",
    "A delete column cannot be a struct, list, map or variant, nor be inside a list or map, and a delete file must " +
      "have delete columns; the error names the file and the column."
  )("core/scan/deletes/EqualityIdColumns.scala")
  val floatingKeys: Rule = rule(
    "floating-keys",
    "Equality Delete Files; Types, defaults, transforms (adopted version 3)",
    "Float and double delete columns are not written. Those of other writers are compared as in Apache Iceberg: all " +
      "NaNs are equal, and zero does not equal negative zero."
  )(
    "core/scan/deletes/KeyBuffer.scala",
    "spark/read/deletes/KeyTest.scala",
    "core/scan/deletes/EqualityIdColumns.scala"
  )
  val droppedKey: Rule = rule(
    "dropped-key",
    Equality,
    "A delete column is compared even after it was dropped from the table."
  )(
    "core/scan/deletes/EqualityIdColumns.scala"
  )
  val addedKey: Rule = rule(
    "added-key",
    Equality,
    "A delete column that a data file lacks is read by the rules of column projection."
  )("core/scan/TableRows.scala", "spark/read/deletes/FileDeletes.scala")
  val everyFormat: Rule = rule(
    "every-format",
    "Delete Formats",
    "Delete files can have any data file format, with field ids and column projection."
  )("core/scan/deletes/DeleteReader.scala")

  val rowIds: Rule = rule(
    "row-ids",
    Lineage,
    "_row_id is the value in the file or, if that is null or missing, first_row_id plus the position of the row."
  )("core/scan/RowOutput.scala", "spark/read/vector/LineageVectors.scala")
  val lastUpdated: Rule = rule(
    "last-updated",
    Lineage,
    "_last_updated_sequence_number is the value in the file or, if that is null or missing, the file's data sequence " +
      "number."
  )("core/scan/RowOutput.scala", "spark/read/vector/LineageVectors.scala")
  val noLineage: Rule = rule(
    "no-lineage",
    Lineage,
    "Both lineage columns are null for a file without first_row_id."
  )(
    "core/scan/RowOutput.scala",
    "spark/read/files/FileValues.scala"
  )
}
