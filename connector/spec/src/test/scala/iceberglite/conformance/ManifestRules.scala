package iceberglite.conformance

/**
 * Rules for manifests and manifest lists. Most are from the sections "Manifests", "Manifest Lists" and "Sequence Number
 * Inheritance" of the specification. See [[Rule]] for the sections of the adopted version 3.
 */
object ManifestRules extends RuleBook("manifests", "Manifests and manifest lists") {
  private val Entries = "core/tree/manifestlist/ManifestEntryColumns.scala"
  private val Files = "core/tree/manifestlist/DataFileColumns.scala"
  private val ListColumns = "core/tree/manifestlist/ManifestFileColumns.scala"
  private val Reader = "core/tree/manifestlist/ManifestReader.scala"
  private val Decoder = "core/avro/FieldDecoder.scala"
  private val Writer = "core/tree/manifestlist/Manifests.scala"
  private val ListFile = "core/tree/manifestlist/ManifestLists.scala"
  private val ListWriter = "core/tree/manifestlist/ManifestListWriter.scala"

  val fieldsById: Rule = rule(
    "fields-by-id",
    "Manifests",
    "The fields of manifests are found by id, whatever their names."
  )(Decoder)
  val namesWithoutIds: Rule = rule(
    "names-without-ids",
    "Column Projection",
    "A manifest without any field ids is read by name."
  )(Decoder)
  val unknownFields: Rule = rule(
    "unknown-fields",
    "Manifests",
    "Deprecated, reserved and unknown fields are skipped."
  )(
    Decoder
  )
  val versions: Rule = rule(
    "presence-by-version",
    "Manifests",
    "Each field is required, optional or absent as defined by the format version."
  )(Entries, Files, ListColumns)
  val oneContent: Rule =
    rule("one-content", "Manifests", "A manifest lists data files or delete files, never both.")(Writer, Reader)
  val oneSpec: Rule = rule("one-spec", "Manifests", "A manifest lists files of one partition spec.")(ListWriter)
  val keyValues: Rule = rule(
    "key-values",
    "Manifests",
    "The key-value metadata has the schema, the partition spec, their ids, the format version and the content."
  )(Writer)
  val version1Writer: Rule = rule(
    "version-1-writer",
    "Appendix E, Version 2",
    "Version 1 writes block_size_in_bytes and snapshot_id, and omits content, sequence numbers and delete files."
  )(Files, Entries, Writer)
  val formatWithoutCase: Rule = rule(
    "format-without-case",
    "Manifests",
    "The name of a file format is compared case-insensitively."
  )(
    "core/tree/manifestlist/FormatColumn.scala"
  )
  val partitionNames: Rule = rule(
    "partition-names",
    "Appendix A: Avro",
    "Names of partition fields that Avro does not allow are escaped, and the original names are kept in a property."
  )("core/avro/FileFieldNames.scala", "core/avro/AvroSchemas.scala")
  val partitionTypes: Rule = rule(
    "partition-types",
    "Manifests",
    "The partition struct has the ids of the partition fields; values of promoted or dropped columns stay readable."
  )(
    "core/tree/manifestlist/PartitionCodec.scala",
    "core/tree/manifestlist/PartitionTypes.scala",
    "core/avro/LiteralDecoder.scala"
  )
  val metricsMaps: Rule = rule(
    "metrics-maps",
    "Manifests",
    "Metrics are maps by field id, written as arrays of key-value pairs."
  )(
    "core/tree/manifestlist/MetricsColumn.scala",
    "core/tree/manifestlist/EncodedMetrics.scala"
  )
  val positionDeletesOrder: Rule = rule(
    "position-deletes-order",
    "Manifests, note 3",
    "Position deletes are written without a sort order id, and readers ignore it."
  )(Files)
  val equalityIds: Rule = rule(
    "equality-ids",
    "Manifests",
    "Only an equality delete file has equality_ids, which name the columns it compares."
  )(
    Files,
    "core/tree/manifestlist/AddedFileCheck.scala"
  )
  val vectorFields: Rule = rule(
    "vector-fields",
    "Deletion vectors (adopted version 3)",
    "The entry of a deletion vector has its data file, and the offset and length in the Puffin file."
  )(Files, "core/tree/manifestlist/AddedFileCheck.scala")
  val vectorsOnly: Rule = rule(
    "vectors-only",
    "Deletion vectors (adopted version 3)",
    "A commit adds deletion vectors only in version 3 and later, position delete files only in version 2, and " +
      "neither in version 1."
  )("core/tree/manifestlist/AddedFileCheck.scala")

  val inheritsSnapshot: Rule = rule(
    "inherits-snapshot",
    "Manifest Entry Fields",
    "A null snapshot id is inherited from the manifest."
  )(Reader)
  val inheritsNumbers: Rule = rule(
    "inherits-numbers",
    "Sequence Number Inheritance",
    "A null data or file sequence number of an ADDED entry is inherited from the manifest; other entries do not " +
      "inherit."
  )(Reader)
  val version1Numbers: Rule = rule(
    "version-1-numbers",
    "Sequence Number Inheritance",
    "Files in a manifest without sequence numbers have the sequence number 0."
  )(Reader)
  val addedAreNull: Rule = rule(
    "added-are-null",
    "Sequence Number Inheritance",
    "Added files are written without sequence numbers, so that a commit retry can reuse the manifest."
  )(ListWriter)
  val olderNumber: Rule = rule(
    "older-number",
    "Sequence Number Inheritance",
    "A file may be added with an explicit, older data sequence number; its file sequence number is that of the commit."
  )(ListWriter, "core/tree/manifestlist/AddedFileCheck.scala")
  val explicitNumbers: Rule = rule(
    "explicit-numbers",
    "Manifest Entry Fields",
    "EXISTING and DELETED entries have the explicit data and file sequence numbers of their files."
  )(ListWriter, Writer)
  val deletedBy: Rule = rule(
    "deleted-by",
    "Manifest Entry Fields",
    "A DELETED entry has the id of the snapshot that deleted the file."
  )(ListWriter)
  val inheritsRowIds: Rule = rule(
    "inherits-row-ids",
    "Row lineage (adopted version 3)",
    "A live data file without first_row_id gets the manifest's first_row_id, plus the record counts of all earlier " +
      "files without first_row_id."
  )(Reader)
  val keptRowIds: Rule = rule(
    "kept-row-ids",
    "Row lineage (adopted version 3)",
    "New files are written with a null first_row_id; an assigned value is kept in all later manifests."
  )(ListWriter, Reader)

  val unknownRecords: Rule = rule(
    "unknown-records",
    "Requirement of this project",
    "A record count of -1 is unknown: the data file is read, and totals exclude it."
  )(Files, "spec/file/ContentFile.scala")
  val countedRowIds: Rule = rule(
    "counted-row-ids",
    "Row lineage (adopted version 3)",
    "Row ids are assigned only to files with a record count, so that row ids stay unique."
  )(ListWriter, "core/tree/manifestlist/AddedFileCheck.scala", Reader)
  val vectorIsRemoved: Rule = rule(
    "vector-goes",
    "Deletion vectors (adopted version 3)",
    "Removing a data file removes the entry of its deletion vector."
  )(ListWriter, "core/tree/RemovedDataFiles.scala")
  val obsoleteDeletes: Rule = rule(
    "obsolete-deletes",
    "Scan Planning",
    "Removing data files removes the delete files that are older than every remaining data file."
  )(ListWriter, "core/tree/RemovedDataFiles.scala")

  val listFields: Rule = rule(
    "list-fields",
    "Manifest Lists",
    "A manifest list has the fields of manifest_file, with their ids."
  )(
    ListColumns,
    ListFile
  )
  val listKeyValues: Rule = rule(
    "list-key-values",
    "Manifest Lists",
    "The list's key-value metadata has the snapshot, its parent, the sequence number, first row id and format version."
  )(ListFile)
  val version1Lists: Rule = rule(
    "version-1-lists",
    "Appendix E, Version 2",
    "In a version 1 list, the content is data, both sequence numbers are 0, and counts may be absent."
  )(ListColumns)
  val newManifest: Rule = rule(
    "new-manifest",
    "Manifest Lists",
    "A new manifest gets the snapshot's sequence number, and the minimum sequence number of its live files."
  )(ListFile)
  val carriedManifest: Rule = rule(
    "carried-manifest",
    "Manifest Lists",
    "An unchanged manifest keeps its sequence number, its added_snapshot_id and its first row id."
  )(ListFile, ListWriter)
  val firstRowIds: Rule = rule(
    "first-row-ids",
    "Row lineage (adopted version 3)",
    "A data manifest without a first row id gets the next unassigned row id, and reserves ids for its added and " +
      "existing rows; delete manifests get none."
  )(ListFile)
  val counts: Rule = rule(
    "counts",
    "Manifest Lists",
    "The file and row counts of a manifest are the sums over its entries with each status."
  )(
    Writer
  )
  val nullCounts: Rule = rule(
    "null-counts",
    "Manifest Lists",
    "A null count is unknown, not zero: the manifest is not skipped."
  )(
    "spec/file/ContentFile.scala"
  )
  val summaries: Rule = rule(
    "summaries",
    "Manifest Lists",
    "Field summaries record whether there are nulls and NaNs, and the bounds of all other values. The bounds have " +
      "the type of the partition field, and -0.0 is less than 0.0."
  )("core/tree/manifestlist/FieldSummaries.scala")
  val unknownSummaries: Rule = rule(
    "unknown-summaries",
    "Manifest Lists",
    "If partitions or contains_nan is null, the partition values are unknown: the manifest is not skipped."
  )("spec/file/ManifestEvaluator.scala")
  val embedded: Rule = rule(
    "embedded-manifests",
    "Snapshots",
    "A version 1 snapshot may list its manifests in table metadata, without a manifest list."
  )("core/tree/manifestlist/EmbeddedManifests.scala")

  val streamed: Rule = rule(
    "streamed",
    "Requirement of this project",
    "A large manifest is read block by block and not loaded completely."
  )("core/avro/AvroSource.scala", "core/avro/AvroContainer.scala")
  val damaged: Rule = rule(
    "damaged",
    "Requirement of this project",
    "Reading a damaged file fails in bounded time and memory, with an IcebergError that names the file and the " +
      "damaged part."
  )("core/avro/AvroFault.scala", "core/avro/AvroSchemaCheck.scala", "core/avro/AvroContainer.scala")
  val metadataBombs: Rule = rule(
    "metadata-bombs",
    "Requirement of this project",
    "A metadata file that is a gzip bomb is rejected."
  )("core/storage/MetadataFiles.scala")
}
