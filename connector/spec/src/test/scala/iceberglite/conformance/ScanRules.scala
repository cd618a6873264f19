package iceberglite.conformance

/** Spec: "Scan Planning", "Delete Formats". */
object ScanRules extends RuleBook("scans", "Scan planning and row-level deletes") {
  private val Planning = "Scan Planning"
  private val Equality = "Equality Delete Files"
  private val Position = "Position Delete Files"
  private val Vectors = "Adopted version 3: Deletion vectors"
  private val Lineage = "Adopted version 3: Row lineage"
  private val filter = "core/scan/FileFilter.scala"
  private val index = "core/scan/DeleteIndex.scala"
  private val sorted = "core/scan/SortedDeletes.scala"

  val deletedEntries: Rule =
    rule(
      "deleted-entries",
      Planning,
      "Entries with the status DELETED, of data and of deletes, are not used in a scan."
    )(
      filter
    )
  val skippedManifests: Rule = rule(
    "skipped-manifests",
    Planning,
    "A manifest without live files, or without matching partitions by its summaries, is not read."
  )("core/scan/TableScan.scala", "spec/file/ManifestEvaluator.scala")
  val inclusiveProjection: Rule = rule(
    "inclusive-projection",
    Planning,
    "The filter becomes a filter of partitions by the spec of each manifest, and drops no file with a matching row."
  )(filter, "spec/expr/Project.scala")
  val fileBounds: Rule =
    rule("file-bounds", Planning, "Data files are left out where counts and bounds rule out every row, and only then.")(
      filter,
      "spec/file/MetricsEvaluator.scala"
    )
  val residuals: Rule = rule(
    "residuals",
    Planning,
    "What a partition satisfies wholly, by the strict projection, is not part of what is left to test in its files."
  )("spec/expr/Residual.scala")

  val positionSequence: Rule = rule(
    "position-sequence",
    Planning,
    "Position deletes apply to data whose data sequence number is at most theirs: to that of the same commit too."
  )(index, sorted)
  val positionPartition: Rule =
    rule("position-partition", Planning, "Position deletes apply to data of the same spec and partition values alone.")(
      index
    )
  val equalitySequence: Rule = rule(
    "equality-sequence",
    Planning,
    "Equality deletes apply to data whose data sequence number is strictly less than theirs."
  )(index, sorted)
  val equalityPartition: Rule =
    rule("equality-partition", Planning, "Equality deletes apply to data of the same spec and partition values.")(index)
  val globalEquality: Rule = rule(
    "global-equality",
    Planning,
    "Equality deletes whose own spec is unpartitioned apply to data of every spec and partition."
  )(index)
  val globalEqualityOwnSpec: Rule = rule(
    "global-equality-own-spec",
    Planning,
    "Whether equality deletes are global is asked of their own spec, not of the table's or the data's; a spec of void " +
      "fields alone is unpartitioned. No filter on partitions leaves them out."
  )(index, "core/scan/TableScan.scala")
  val floatingPartitions: Rule = rule(
    "floating-partitions",
    "Scan Planning, note 3",
    "Floating point partition values are equal where their bits are, all NaNs being one."
  )("spec/types/Literal.scala", index)
  val deletesByBounds: Rule = rule(
    "deletes-by-bounds",
    "Scan Planning, note 2",
    "Equality deletes are left out where counts and bounds tell that no key of theirs is in the data file; missing, " +
      "cut and promoted bounds rule out nothing wrongly, and nulls meet nulls."
  )("spec/file/KeyOverlap.scala", sorted)
  val deletesByFilter: Rule = rule(
    "deletes-by-filter",
    "Scan Planning, note 2",
    "Equality deletes without a key that matches the filter are left out; their other columns are not asked."
  )("core/scan/PartReading.scala", "core/scan/KeyColumns.scala")
  val positionsNotByFilter: Rule = rule(
    "positions-not-by-filter",
    "Delete File Stats",
    "A position delete file is never left out for what the filter says of data columns."
  )("core/scan/PartReading.scala")
  val positionsByPath: Rule = rule(
    "positions-by-path",
    "Scan Planning; Position Delete Files",
    "A position delete file with a referenced_data_file, or with one path in its bounds, applies to that file alone; " +
      "others are left out where their bounds of file_path do not hold the data file's path."
  )(sorted)

  val noDeletesInVersion1: Rule =
    rule("no-deletes-in-version-1", "Delete Formats", "Version 1 tables have no delete files.")(
      "core/scan/TableScan.scala"
    )
  val vectorScope: Rule = rule(
    "vector-scope",
    Vectors,
    "A deletion vector applies to the data file that it names, in the same partition and not newer; one that " +
      "contradicts this is an error, as are entries without data file, offset or size."
  )(index)
  val vectorIdentity: Rule =
    rule("vector-identity", Vectors, "The identity of a deletion vector is its path and offset.")(
      "core/scan/DeleteFile.scala"
    )
  val oneVector: Rule =
    rule("one-vector", Vectors, "A data file has at most one deletion vector in a snapshot; two are an error.")(index)
  val vectorBeforePositions: Rule =
    rule("vector-before-positions", Vectors, "Position delete files are ignored for a data file with a vector.")(index)
  val vectorCardinality: Rule = rule(
    "vector-cardinality",
    Vectors,
    "A vector has as many positions as the record count of its entry says."
  )("core/scan/DeleteReader.scala")
  val positionsAsListed: Rule = rule(
    "positions-as-listed",
    "Position Delete Files",
    "The paths in a position delete file lie within the bounds of its entry, which are never cut; others mean that it is " +
      "not the file that was committed."
  )("core/scan/DeleteReader.scala")

  val positionRows: Rule = rule(
    "position-rows",
    Position,
    "A row is deleted where a position delete file has its file's path, as metadata writes it, and its ordinal."
  )("core/scan/DeleteReader.scala", "core/scan/TableRows.scala")
  val allColumnsEqual: Rule = rule(
    "all-columns-equal",
    Equality,
    "A row is deleted where it equals one row of the delete file in all columns of equality_ids; other columns of the " +
      "delete file do not matter."
  )("core/scan/KeyBuffer.scala", "spark/read/deletes/KeyTest.scala")
  val nullEqualsNull: Rule =
    rule("null-equals-null", Equality, "A null in a delete column matches rows where the column is null.")(
      "core/scan/KeyBuffer.scala",
      "spark/read/deletes/KeyTest.scala"
    )
  val noNestedKeys: Rule = rule(
    "no-nested-keys",
    "Equality Delete Files; adopted version 3: Types, defaults, transforms",
    "Nested and variant columns, and those inside lists and maps, are no delete columns; the error names file and column. " +
      "Nor does a delete file go without delete columns."
  )("core/scan/KeyColumns.scala")
  val floatingKeys: Rule = rule(
    "floating-keys",
    "Equality Delete Files; adopted version 3: Types, defaults, transforms",
    "Float and double delete columns are not written. Files of other writers that have them are read with the comparison of " +
      "Apache Iceberg: a NaN equals every NaN, and zero does not equal negative zero."
  )("core/scan/KeyBuffer.scala", "spark/read/deletes/KeyTest.scala", "core/scan/KeyColumns.scala")
  val droppedKey: Rule =
    rule("dropped-key", Equality, "A delete column that was dropped from the table is still compared.")(
      "core/scan/KeyColumns.scala"
    )
  val addedKey: Rule = rule(
    "added-key",
    Equality,
    "A delete column that a data file lacks is read by the rules of column projection."
  )("core/scan/TableRows.scala", "spark/read/deletes/FileDeletes.scala")
  val everyFormat: Rule = rule(
    "every-format",
    "Delete Formats",
    "Delete files are data files: of any format, with field ids and column projection."
  )("core/scan/DeleteReader.scala")

  val rowIds: Rule = rule(
    "row-ids",
    Lineage,
    "_row_id is what the file holds or, where that is null or missing, the file's first_row_id plus the row's ordinal."
  )("core/scan/RowOutput.scala", "spark/read/vector/LineageVectors.scala")
  val lastUpdated: Rule = rule(
    "last-updated",
    Lineage,
    "_last_updated_sequence_number is what the file holds or, where that is null or missing, its data sequence number."
  )("core/scan/RowOutput.scala", "spark/read/vector/LineageVectors.scala")
  val noLineage: Rule =
    rule("no-lineage", Lineage, "A file without first_row_id gives null for both lineage columns.")(
      "core/scan/RowOutput.scala",
      "spark/read/files/FileValues.scala"
    )
}
