package iceberglite.conformance

/**
 * Rules of the specification sections "Table Statistics", "Partition Statistics" and "Deletion vectors", and of the
 * Puffin specification.
 */
object StatisticsRules extends RuleBook("statistics", "Puffin, deletion vectors and statistics") {
  private val Vectors = "Deletion vectors (adopted version 3)"
  private val PuffinSpec = "Puffin specification"
  private val Tables = "Table Statistics"
  private val Partitions = "Partition Statistics"
  private val PartitionFile = "Partition Statistics File"

  val vectorLayout: Rule = rule(
    "vector-layout",
    Vectors,
    "A deletion vector consists of its big-endian length, the magic D1 D3 39 64, a little-endian count of bitmaps, " +
      "the bitmaps in unsigned order of their keys (each as a key and Roaring's portable form), and a big-endian " +
      "CRC-32 of the magic, count and bitmaps."
  )("core/puffin/DeletionVectorBytes.scala", "core/puffin/DeletionVector.scala")

  val vectorPositions: Rule = rule(
    "vector-positions",
    Vectors,
    "The top bit of a deleted position is 0."
  )("core/puffin/DeletionVector.scala", "core/puffin/DeletionVectorBytes.scala")

  val vectorIsChecked: Rule = rule(
    "vector-is-checked",
    Vectors,
    "A vector is rejected if its length, magic, checksum, key order, bitmaps or cardinality contradict its blob or " +
      "its entry."
  )(
    "core/puffin/DeletionVectorBytes.scala",
    "core/puffin/PortableBitmap.scala",
    "core/puffin/DeletionVectorFiles.scala"
  )

  val vectorsMerge: Rule = rule(
    "vectors-merge",
    Vectors,
    "A new vector of a data file contains the positions of the old vector and of the position deletes that applied " +
      "to the file."
  )("core/puffin/DeletionVector.scala")

  val vectorBlob: Rule = rule(
    "vector-blob",
    Vectors,
    "The blob of a vector is not compressed, names its data file and its cardinality, has the field _pos, and has -1 " +
      "as snapshot id and sequence number."
  )("core/puffin/DeletionVectorFiles.scala")

  val vectorEntry: Rule = rule(
    "vector-entry",
    Vectors,
    "The delete file entry of a vector has content 1, format puffin, the cardinality as record count, the size of " +
      "the whole Puffin file, the referenced data file, and the offset and length of its blob."
  )("core/puffin/DeletionVectorFiles.scala")

  val oneVectorOfAFile: Rule = rule(
    "one-vector-of-a-file",
    Vectors,
    "A Puffin file may contain deletion vectors of many data files, at most one vector for each data file."
  )("core/puffin/DeletionVectorFiles.scala")

  val puffinLayout: Rule = rule(
    "puffin-layout",
    PuffinSpec,
    "A Puffin file is the magic PFA1, the blobs, and a footer of magic, JSON payload, little-endian payload size, " +
      "four bytes of flags and magic."
  )("core/puffin/PuffinFile.scala", "core/puffin/PuffinWriter.scala")

  val puffinFooter: Rule = rule(
    "puffin-footer",
    PuffinSpec,
    "The footer has for each blob its type, fields, snapshot id, sequence number, offset, length, codec and " +
      "properties, and file properties such as created-by."
  )("spec/json/PuffinFooterJson.scala", "spec/metadata/Puffin.scala")

  val puffinPackedFooter: Rule = rule(
    "puffin-packed-footer",
    PuffinSpec,
    "Bit 0 of the first flag byte means that the payload is an LZ4 frame; unknown flags are rejected."
  )("core/puffin/PuffinFile.scala")

  val puffinCodecs: Rule = rule(
    "puffin-codecs",
    PuffinSpec,
    "A blob is uncompressed, or one lz4 or zstd frame with its content size."
  )("core/puffin/PuffinCodec.scala")

  val puffinIsChecked: Rule = rule(
    "puffin-is-checked",
    PuffinSpec,
    "A file with invalid magic, sizes, flags, offsets or frames is rejected in bounded memory; the error names the " +
      "file and the part."
  )("core/puffin/PuffinFile.scala", "core/puffin/PuffinCodec.scala")

  val thetaSketch: Rule = rule(
    "theta-sketch",
    PuffinSpec,
    "A theta sketch is compact, of the Alpha family with the default seed, built from single-value serialized " +
      "values, and has the property ndv."
  )("core/puffin/ThetaSketch.scala")

  val tableStatistics: Rule = rule(
    "table-statistics",
    Tables,
    "Table metadata has the path, the size and the footer size of a snapshot's Puffin file, and its blobs with type, " +
      "snapshot, sequence number, fields and properties."
  )("spec/metadata/Statistics.scala", "spec/json/StatisticsJson.scala", "core/puffin/PuffinWriter.scala")

  val statisticsOfASnapshot: Rule = rule(
    "statistics-of-a-snapshot",
    Tables,
    "A statistics file belongs to a snapshot of the table and is removed when the snapshot expires."
  )("spec/update/StatisticsFiles.scala", "core/table/action/SetStatistics.scala", "spec/update/Snapshots.scala")

  val onePartitionFileOfASnapshot: Rule = rule(
    "one-partition-file-of-a-snapshot",
    Partitions,
    "A snapshot has at most one partition statistics file, which is valid only if table metadata lists it."
  )("spec/update/StatisticsFiles.scala", "core/table/action/SetPartitionStatistics.scala")

  val unifiedPartition: Rule = rule(
    "unified-partition",
    PartitionFile,
    "The partition of a row is a struct of the fields of all partition specs, with their ids, in ascending order."
  )("core/tree/UnifiedPartition.scala")

  val partitionFileColumns: Rule = rule(
    "partition-file-columns",
    PartitionFile,
    "The fields 1 to 12 are in the files of all versions; in version 3 and later, 6 to 9 are required and field 13 " +
      "is dv_count."
  )("core/maintenance/PartitionStatisticsColumns.scala")

  val partitionFileOrder: Rule = rule(
    "partition-file-order",
    PartitionFile,
    "Rows are sorted by partition, ascending, nulls first."
  )("core/maintenance/PartitionStatistics.scala")

  val partitionFileCounts: Rule = rule(
    "partition-file-counts",
    PartitionFile,
    "A row has the counts of live files of a partition of a partition spec. Field 6 counts position deletes, " +
      "including those of deletion vectors; field 7 counts position delete files; field 13 counts deletion vectors. " +
      "The total record count is null if it is not known."
  )("core/maintenance/PartitionStatistics.scala")

  val partitionFileFormat: Rule = rule(
    "partition-file-format",
    PartitionFile,
    "A partition statistics file can have any data file format."
  )("core/maintenance/PartitionStatisticsFiles.scala")

  val bloomIndex: Rule = rule(
    "bloom-index",
    PuffinSpec,
    "The Bloom index is in blobs of a type of its own, which the metadata does not list and other engines ignore. A " +
      "query opens only the files that may contain a key, and no row is lost if the blobs are missing or damaged."
  )("core/puffin/BloomIndexBlob.scala", "core/scan/BloomIndex.scala")
}
