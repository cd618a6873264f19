package iceberglite.tree.root

import scala.collection.concurrent.TrieMap

import iceberglite.data.parquet.ParquetMetadataFiles.MetadataRecords
import iceberglite.spec.file.Metrics
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType

/**
 * The statistics of the files that a leaf manifest lists. The bytes of the leaf are in memory. The statistics of a
 * column are decoded when they are first requested, because most plans need the statistics of only a few columns.
 * Thread-safe.
 *
 * @param path the path of the leaf
 * @param open opens the leaf with the columns to read
 * @param columns the columns and expressions whose statistics can be requested
 */
final private[root] class LeafStatistics(
    path: String,
    open: StructType => MetadataRecords,
    val columns: StatsColumns
) {
  private val decoded = TrieMap.empty[Int, Array[FieldStats]]

  /**
   * Returns the statistics of a column or expression in the file at a position of the leaf; empty if there are none.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the statistics of the column are damaged
   */
  def of(id: Int, row: Int): FieldStats = decoded.get(id) match {
    case Some(files) => files(row)
    case None if columns.byId.contains(id) =>
      prepare(Set(id))
      decoded(id)(row)
    case None => FieldStats.Empty
  }

  /** Returns the metrics of the file at a position of the leaf. @param identities see [[LeafMetrics]] */
  def metrics(row: Int, identities: Set[Int]): Metrics = new LeafMetrics(this, row, identities)

  /**
   * Returns the ids of all columns and expressions. Their statistics are decoded together, which is faster than one by
   * one.
   */
  lazy val allIds: Vector[Int] = {
    val ids = columns.all.map(_.id)
    prepare(ids.toSet)
    ids
  }

  /** Decodes the statistics of the given columns together, if they have not been decoded yet. */
  def prepare(ids: Set[Int]): Unit = {
    def isMissing(c: StatsColumn): Boolean = ids(c.id) && !decoded.contains(c.id)
    if (ids.exists(id => columns.byId.get(id).exists(isMissing))) synchronized(decode(columns.all.filter(isMissing)))
  }

  private def decode(wanted: Vector[StatsColumn]): Unit = if (wanted.nonEmpty) RootManifests.guard(path) {
    val struct = new ContentStatsStruct(columns.only(wanted.map(_.id).toSet))
    val expected = NestedField.optional(EntryStruct.StatsId, EntryStruct.StatsName, struct.structType)
    val rows = open(StructType(Vector(expected)))
    try {
      val values = Array.fill(wanted.size)(Array.newBuilder[FieldStats])
      rows.foreach { row =>
        var i = 0
        while (i < values.length) {
          values(i) += struct.fieldAt(i, row(0))
          i += 1
        }
      }
      wanted.indices.foreach(i => decoded.put(wanted(i).id, values(i).result()))
    } finally rows.close()
  }
}
