package iceberglite.conformance

/** Spec: "Manifests", "Manifest Lists", "Sequence Number Inheritance". */
object ManifestRules extends RuleBook("manifests", "Manifests and manifest lists") {
  private val Entries = "core/tree/manifestlist/ManifestEntryColumns.scala"
  private val Files = "core/tree/manifestlist/DataFileColumns.scala"
  private val Lists = "core/tree/manifestlist/ManifestFileColumns.scala"
  private val Reader = "core/tree/manifestlist/ManifestReader.scala"
  private val Decoder = "core/avro/FieldDecoder.scala"
  private val Writer = "core/tree/manifestlist/Manifests.scala"
  private val ListWriter = "core/tree/manifestlist/ManifestLists.scala"
  private val Tree = "core/tree/manifestlist/ManifestListWrite.scala"

  val fieldsById: Rule = rule(
    "fields-by-id",
    "Manifests",
    "The fields of manifests are found by their ids, whatever the writer calls them."
  )(Decoder)
  val namesWithoutIds: Rule =
    rule("names-without-ids", "Column Projection", "A manifest without any field ids is read by its names.")(Decoder)
  val unknownFields: Rule =
    rule("unknown-fields", "Manifests", "Deprecated fields, reserved ones and ones that nobody knows are skipped.")(
      Decoder
    )
  val versions: Rule = rule(
    "presence-by-version",
    "Manifests",
    "Each field is required, optional or absent as the version of the format has it."
  )(Entries, Files, Lists)
  val oneContent: Rule =
    rule("one-content", "Manifests", "A manifest lists data files or delete files, never both.")(Writer, Reader)
  val oneSpec: Rule = rule("one-spec", "Manifests", "A manifest lists files of a single partition spec.")(Tree)
  val keyValues: Rule = rule(
    "key-values",
    "Manifests",
    "The file's key-value metadata has the schema, the partition spec, their ids, the format version and the content."
  )(Writer)
  val version1Writer: Rule = rule(
    "version-1-writer",
    "Appendix E, Version 2",
    "Version 1 writes block_size_in_bytes and snapshot_id, and leaves out content, sequence numbers and delete files."
  )(Files, Entries, Writer)
  val formatWithoutCase: Rule =
    rule("format-without-case", "Manifests", "The name of a file's format is compared without case.")(
      "core/tree/manifestlist/FormatColumn.scala"
    )
  val partitionNames: Rule = rule(
    "partition-names",
    "Appendix A: Avro",
    "Names of partition fields that Avro forbids are escaped in the file and kept beside it."
  )("core/avro/FileFieldNames.scala", "core/avro/AvroSchemas.scala")
  val partitionTypes: Rule = rule(
    "partition-types",
    "Manifests",
    "The partition struct has the ids of the spec's fields; values of a promoted or dropped column keep being read."
  )(
    "core/tree/manifestlist/PartitionCodec.scala",
    "core/tree/manifestlist/PartitionTypes.scala",
    "core/avro/LiteralDecoder.scala"
  )
  val metricsMaps: Rule =
    rule("metrics-maps", "Manifests", "Metrics are maps by field id, written as arrays of key and value.")(
      "core/tree/manifestlist/MetricsColumn.scala",
      "core/tree/manifestlist/EncodedMetrics.scala"
    )
  val positionDeletesOrder: Rule = rule(
    "position-deletes-order",
    "Manifests, note 3",
    "Position deletes are written without a sort order id, and a reader takes no notice of one."
  )(Files)
  val equalityIds: Rule =
    rule("equality-ids", "Manifests", "An equality delete file names the columns it compares; no other file does.")(
      Files,
      "core/tree/manifestlist/AddedFiles.scala"
    )
  val vectorFields: Rule = rule(
    "vector-fields",
    "Deletion vectors (version 3 as adopted)",
    "The entry of a deletion vector has its data file, and its offset and length in the Puffin file."
  )(Files, "core/tree/manifestlist/AddedFiles.scala")
  val vectorsOnly: Rule = rule(
    "vectors-only",
    "Deletion vectors (version 3 as adopted)",
    "Version 3 adds deletion vectors and no position delete files, version 2 the other way round, version 1 neither."
  )("core/tree/manifestlist/AddedFiles.scala")

  val inheritsSnapshot: Rule =
    rule("inherits-snapshot", "Manifest Entry Fields", "A null snapshot id is that of the manifest.")(Reader)
  val inheritsNumbers: Rule = rule(
    "inherits-numbers",
    "Sequence Number Inheritance",
    "A null data or file sequence number of an ADDED entry is the manifest's; no other entry inherits."
  )(Reader)
  val version1Numbers: Rule = rule(
    "version-1-numbers",
    "Sequence Number Inheritance",
    "Files of a manifest without sequence numbers have the number 0."
  )(Reader)
  val addedAreNull: Rule = rule(
    "added-are-null",
    "Sequence Number Inheritance",
    "Added files are written without numbers, so that a retry of the commit takes the manifest again."
  )(Tree)
  val olderNumber: Rule = rule(
    "older-number",
    "Sequence Number Inheritance",
    "A file may be added with an explicit older data sequence number; its file sequence number is assigned."
  )(Tree, "core/tree/manifestlist/AddedFiles.scala")
  val explicitNumbers: Rule = rule(
    "explicit-numbers",
    "Manifest Entry Fields",
    "EXISTING and DELETED entries carry the data and file sequence numbers that their files were given."
  )(Tree, Writer)
  val deletedBy: Rule =
    rule("deleted-by", "Manifest Entry Fields", "A DELETED entry bears the snapshot that deleted the file.")(Tree)
  val inheritsRowIds: Rule = rule(
    "inherits-row-ids",
    "Row lineage (version 3 as adopted)",
    "A live data file without a first row id gets the manifest's, plus the rows of the files before it that had none."
  )(Reader)
  val keptRowIds: Rule = rule(
    "kept-row-ids",
    "Row lineage (version 3 as adopted)",
    "New files are written with a null first row id; an assigned one stays with its file in every later manifest."
  )(Tree, Reader)

  val unknownRecords: Rule = rule(
    "unknown-records",
    "Issue: The table spec, whole",
    "A data file's record count of -1 is an unknown one: the file is read, and sums leave it out."
  )(Files, "spec/file/ContentFile.scala")
  val countedRowIds: Rule = rule(
    "counted-row-ids",
    "Row lineage (version 3 as adopted)",
    "Row ids are given to files only whose rows are counted, so that no two rows get the same."
  )(Tree, "core/tree/manifestlist/AddedFiles.scala", Reader)
  val vectorGoes: Rule = rule(
    "vector-goes",
    "Deletion vectors (version 3 as adopted)",
    "When a data file goes, the entry of its deletion vector goes with it."
  )(Tree, "core/tree/RemovedDataFiles.scala")
  val outlived: Rule = rule(
    "outlived-deletes",
    "Scan Planning",
    "With data files go the delete files that are older than every data file that is left."
  )(Tree, "core/tree/RemovedDataFiles.scala")

  val listFields: Rule =
    rule("list-fields", "Manifest Lists", "A manifest list has the fields of manifest_file, by their ids.")(
      Lists,
      ListWriter
    )
  val listKeyValues: Rule = rule(
    "list-key-values",
    "Manifest Lists",
    "The list's key-value metadata has the snapshot, its parent, the sequence number, the first row id and the version."
  )(ListWriter)
  val version1Lists: Rule = rule(
    "version-1-lists",
    "Appendix E, Version 2",
    "In a version 1 list, content is data, both sequence numbers are 0, and counts may be missing."
  )(Lists)
  val newManifest: Rule = rule(
    "new-manifest",
    "Manifest Lists",
    "A new manifest gets the snapshot's sequence number, and the least number of its live files."
  )(ListWriter)
  val carriedManifest: Rule = rule(
    "carried-manifest",
    "Manifest Lists",
    "A carried manifest keeps its sequence number, the snapshot that added it and its first row id."
  )(ListWriter, Tree)
  val firstRowIds: Rule = rule(
    "first-row-ids",
    "Row lineage (version 3 as adopted)",
    "Data manifests without a first row id get the next ones, with room for added and existing rows; deletes get none."
  )(ListWriter)
  val counts: Rule =
    rule("counts", "Manifest Lists", "The counts of files and rows are those of the manifest's entries by status.")(
      Writer
    )
  val nullCounts: Rule =
    rule("null-counts", "Manifest Lists", "A null count means not zero: the manifest is not skipped.")(
      "spec/file/ContentFile.scala"
    )
  val summaries: Rule = rule(
    "summaries",
    "Manifest Lists",
    "Summaries tell of null, of NaN, and of bounds without them, in the partition field's type, -0.0 before 0.0."
  )("core/tree/manifestlist/FieldSummaries.scala")
  val unknownSummaries: Rule = rule(
    "unknown-summaries",
    "Manifest Lists",
    "Null partitions or a null contains_nan say nothing: the manifest is not skipped."
  )("spec/file/ManifestEvaluator.scala")
  val embedded: Rule = rule(
    "embedded-manifests",
    "Snapshots",
    "A version 1 snapshot may name its manifests in table metadata, without a list."
  )("core/tree/manifestlist/EmbeddedManifests.scala")

  val streamed: Rule = rule(
    "streamed",
    "Issue: The table spec, whole",
    "A large manifest is read block by block, and not held as a whole."
  )("core/avro/AvroSource.scala", "core/avro/AvroContainer.scala")
  val damaged: Rule = rule(
    "damaged",
    "Issue: The table spec, whole",
    "Whatever is wrong with a file is a typed error that names it and the part, in bounded time and memory."
  )("core/avro/AvroFault.scala", "core/avro/AvroSchemaCheck.scala", "core/avro/AvroContainer.scala")
  val metadataBombs: Rule = rule(
    "metadata-bombs",
    "Issue: The table spec, whole",
    "A gzip metadata file that unpacks to far more than it is, is refused."
  )("core/storage/MetadataFiles.scala")
}
