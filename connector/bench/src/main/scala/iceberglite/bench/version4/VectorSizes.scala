package iceberglite.bench.version4

import scala.util.Random

import iceberglite.spec.FormatVersion.V4
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.spec.property.Version4Property.{MaxVectorBytes, MaxVectorsBytes}
import iceberglite.table.action.{MergeAppend, OverwriteFiles}
import iceberglite.tree.ManifestCache

/**
 * What deletion vectors of leaf manifests cost the commits and plans after a commit that removed files, if the root
 * contains them and if a Puffin file does.
 *
 * @param removed the number of files that the commit removed, at random
 * @param inline whether the root contains the vectors
 * @param removalBytes the bytes of the metadata tree that the commit wrote
 * @param appendBytes the mean bytes of the metadata tree that each of the next commits writes, which append one file
 * @param appendFiles the number of files of the metadata tree that all these appends write
 * @param planRequests the number of requests of a plan of all files without cached manifests, after the appends
 * @param planBytes the bytes that this plan reads
 */
final case class VectorSizes(
    columns: Int,
    removed: Int,
    inline: Boolean,
    removalBytes: Long,
    appendBytes: Long,
    appendFiles: Long,
    planRequests: Long,
    planBytes: Long
)

object VectorSizes {

  /** The number of files of the table. */
  val Files = 100000

  /** The numbers of removed files. The last one is below the proportion above which a leaf is written again. */
  val Removed: Vector[Int] = Vector(1, 100, 1000, 5000, 10000, 20000)

  /** The number of appends after the removal. */
  val Appends = 20

  def of(columns: Int, removed: Int, inline: Boolean, files: Int = Files): VectorSizes = {
    // Each vector is larger than one byte, so that the lower limit moves all of them to a Puffin file.
    val limit = if (inline) 64L << 20 else 1L
    val limits = Map(MaxVectorBytes.key -> limit.toString, MaxVectorsBytes.key -> limit.toString)
    val table = new BenchTable(V4, new SyntheticFiles(columns, files), files, limits)
    val io = table.cold(0)
    val chosen = new Random(removed).shuffle((0 until files).toVector).take(removed).sorted
    val removal = new OverwriteFiles(AlwaysFalse, Vector.empty, removed = chosen.map(table.data.identity))
    io.reset(deletesFiles = false)
    val after = BenchTable.commit(table.on(io), removal)
    val removalBytes = io.requests.writtenBytes
    io.reset(deletesFiles = false)
    val last = (0 until Appends).foldLeft(after) { (current, i) =>
      BenchTable.commit(current, new MergeAppend(Vector(table.data.file(files + i))))
    }
    val appends = io.requests
    io.reset(deletesFiles = false)
    PlanCost.scan(last, AlwaysTrue, ManifestCache.Disabled).plan()
    val plan = io.requests
    VectorSizes(
      columns,
      removed,
      inline,
      removalBytes,
      appends.writtenBytes / Appends,
      appends.writtenFiles,
      plan.reads,
      plan.readBytes
    )
  }
}
