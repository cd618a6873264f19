package iceberglite.conformance

/** Spec: "Table Statistics", "Partition Statistics", and Puffin with its deletion vectors. */
object StatisticsRules extends RuleBook("statistics", "Puffin, deletion vectors and statistics") {
  private val Vectors = "Deletion vectors (adopted version 3)"
  private val Layout = "Puffin's layout (adopted version 3)"
  private val Tables = "Table Statistics"
  private val Partitions = "Partition Statistics"
  private val PartitionFile = "Partition Statistics File"

  val vectorLayout: Rule = rule(
    "vector-layout",
    Vectors,
    "A deletion vector is its big-endian length, the magic D1 D3 39 64, a little-endian count of bitmaps, each with its key in unsigned order in Roaring's portable form, and a big-endian CRC-32 of all but the length."
  )("core/puffin/DeletionVectorBytes.scala", "core/puffin/DeletionVector.scala")

  val vectorPositions: Rule = rule(
    "vector-positions",
    Vectors,
    "A deleted position has the top bit 0."
  )("core/puffin/DeletionVector.scala", "core/puffin/DeletionVectorBytes.scala")

  val vectorIsChecked: Rule = rule(
    "vector-is-checked",
    Vectors,
    "A vector whose length, magic, checksum, order of keys, bitmaps or cardinality is not as its blob and its entry say is refused."
  )(
    "core/puffin/DeletionVectorBytes.scala",
    "core/puffin/PortableBitmap.scala",
    "core/puffin/DeletionVectorFiles.scala"
  )

  val vectorsMerge: Rule = rule(
    "vectors-merge",
    Vectors,
    "A new vector of a data file holds the positions of the old one and of the position deletes that applied."
  )("core/puffin/DeletionVector.scala")

  val vectorBlob: Rule = rule(
    "vector-blob",
    Vectors,
    "The blob of a vector is not compressed, names its data file and its cardinality, has the field _pos, and -1 for the snapshot id and the sequence number."
  )("core/puffin/DeletionVectorFiles.scala")

  val vectorEntry: Rule = rule(
    "vector-entry",
    Vectors,
    "The delete file of a vector has content 1, format puffin, the cardinality as record count, the size of the whole Puffin file, the data file that it speaks of, and the offset and length of its blob."
  )("core/puffin/DeletionVectorFiles.scala")

  val oneVectorOfAFile: Rule = rule(
    "one-vector-of-a-file",
    Vectors,
    "A Puffin file holds the vectors of many data files, one of each at most."
  )("core/puffin/DeletionVectorFiles.scala")

  val puffinLayout: Rule = rule(
    "puffin-layout",
    Layout,
    "A Puffin file is the magic PFA1, the blobs, and a footer of magic, JSON payload, little-endian payload size, four bytes of flags and magic."
  )("core/puffin/PuffinFile.scala", "core/puffin/PuffinWriter.scala")

  val puffinFooter: Rule = rule(
    "puffin-footer",
    Layout,
    "The footer names for each blob its type, fields, snapshot id, sequence number, offset, length, codec and properties, and properties of the file such as created-by."
  )("spec/json/PuffinFooterJson.scala", "spec/metadata/Puffin.scala")

  val puffinPackedFooter: Rule = rule(
    "puffin-packed-footer",
    Layout,
    "Bit 0 of the first flag byte says that the payload is an LZ4 frame; a flag that is not known is refused."
  )("core/puffin/PuffinFile.scala")

  val puffinCodecs: Rule = rule(
    "puffin-codecs",
    Layout,
    "A blob is not compressed, or one lz4 or zstd frame with its content size."
  )("core/puffin/PuffinCodec.scala")

  val puffinIsChecked: Rule = rule(
    "puffin-is-checked",
    Layout,
    "A file whose magic, sizes, flags, places or frames cannot be is refused by name and part, in bounded memory."
  )("core/puffin/PuffinFile.scala", "core/puffin/PuffinCodec.scala")

  val thetaSketch: Rule = rule(
    "theta-sketch",
    Layout,
    "A theta sketch is compact, of the Alpha family with the default seed, fed with values by single-value serialization, and has the property ndv."
  )("core/puffin/ThetaSketch.scala")

  val tableStatistics: Rule = rule(
    "table-statistics",
    Tables,
    "Table metadata names a Puffin file of a snapshot by path, size, size of the whole footer, and its blobs with type, snapshot, sequence number, fields and properties."
  )("spec/metadata/Statistics.scala", "spec/json/StatisticsJson.scala", "core/puffin/PuffinWriter.scala")

  val statisticsOfASnapshot: Rule = rule(
    "statistics-of-a-snapshot",
    Tables,
    "A statistics file belongs to a snapshot of the table and goes when the snapshot expires."
  )("spec/update/StatisticsFiles.scala", "core/table/action/SetStatistics.scala", "spec/update/Snapshots.scala")

  val onePartitionFileOfASnapshot: Rule = rule(
    "one-partition-file-of-a-snapshot",
    Partitions,
    "A snapshot has one partition statistics file at most, which counts once table metadata names it."
  )("spec/update/StatisticsFiles.scala", "core/table/action/SetPartitionStatistics.scala")

  val unifiedPartition: Rule = rule(
    "unified-partition",
    PartitionFile,
    "The partition of a row is a struct of all fields that were ever part of a spec, with their partition field ids, ascending."
  )("core/tree/UnifiedPartition.scala")

  val partitionFileColumns: Rule = rule(
    "partition-file-columns",
    PartitionFile,
    "The fields 1 to 12 stand in the files of all versions; from version 3 on 6 to 9 are required and there is 13, dv_count."
  )("core/maintenance/PartitionStatisticsColumns.scala")

  val partitionFileOrder: Rule = rule(
    "partition-file-order",
    PartitionFile,
    "Rows are sorted by the partition, ascending, nulls first."
  )("core/maintenance/PartitionStatistics.scala")

  val partitionFileCounts: Rule = rule(
    "partition-file-counts",
    PartitionFile,
    "A row counts the live files of a partition and spec: 6 counts the positions of deletion vectors too, 7 does not count them as files, 13 does; a total record count that is not known is null."
  )("core/maintenance/PartitionStatistics.scala")

  val partitionFileFormat: Rule = rule(
    "partition-file-format",
    PartitionFile,
    "The file is of any format of data files."
  )("core/maintenance/PartitionStatisticsFiles.scala")
}
