package iceberglite.maintenance.compact

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.property.TableProperty
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.RewriteManifests
import iceberglite.tree.{FilePart, MetadataTree}

/** The result of a rewrite of manifests: the number of replaced manifests, and the number of new manifests. */
final case class ManifestRewriteResult(rewrittenManifests: Int, addedManifests: Int)

object ManifestRewriteResult {
  val Empty: ManifestRewriteResult = ManifestRewriteResult(0, 0)
}

/**
 * Rewrites the manifests of a branch, with their entries sorted by partition.
 *
 * @param specId the partition spec of the manifests; by default the table's default partition spec
 * @param sortBy the names of the partition fields to sort by first
 * @param summary entries of the snapshot summary that describe the compute engine
 */
final class ManifestCompaction(
    table: Table,
    specId: Option[Int] = None,
    sortBy: Vector[String] = Vector.empty,
    summary: Map[String, String] = Map.empty,
    to: SnapshotTarget.Branch = SnapshotTarget.Main
) {
  private val action = new RewriteManifests(specId, sortBy, to)

  /**
   * Rewrites the manifests.
   *
   * @return the newest version of the table, and the result
   * @throws iceberglite.spec.IcebergError.NotFound if the table has no such partition spec, or if the partition spec
   *   has no such field
   */
  def run(): (Table, ManifestRewriteResult) = {
    val after = table.transaction(summary).add(action).commit()
    // The newest snapshot may be that of another writer.
    val result = action.snapshotIn(after.metadata).fold(ManifestRewriteResult.Empty) { snapshot =>
      def count(key: String) = snapshot.count(key).getOrElse(0L).toInt
      ManifestRewriteResult(count("manifests-replaced"), count("manifests-created"))
    }
    (after, result)
  }

  /**
   * Returns the result that [[run]] would have, without changing anything. The number of new manifests is estimated
   * from the sizes of the existing manifests.
   *
   * @throws iceberglite.spec.IcebergError.NotFound as for [[run]]
   */
  def dryRun(): ManifestRewriteResult = {
    val rewrite = action.rewriteOf(table.metadata)
    val target = TableProperty.of(TableProperty.ManifestTargetSize, table.properties)
    def parts(snapshot: Snapshot) = rewrite.choose(MetadataTree.at(snapshot, table.tree()).parts)
    val chosen = to.head(table.metadata).fold(Vector.empty[FilePart])(parts)
    val bytes = chosen.groupBy(_.content).values.map(_.iterator.map(_.length).sum)
    ManifestRewriteResult(chosen.size, bytes.map(size => math.max(1L, (size + target - 1) / target)).sum.toInt)
  }
}
