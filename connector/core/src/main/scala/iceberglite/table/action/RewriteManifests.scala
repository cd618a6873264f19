package iceberglite.table.action

import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.spec.file.{ManifestContent, PartSummary}
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.property.TableProperty
import iceberglite.table.{CommitContext, SnapshotTarget}
import iceberglite.tree.{FileChanges, ManifestRewrite, PartitionOrdering, WrittenTree}

/**
 * Rewrites manifests with their entries sorted by partition, so that scans with a partition filter skip more manifests.
 * The live files do not change. If there is only one manifest of data files or of delete files, it is rewritten only to
 * divide it: if it is larger than `commit.manifest.target-size-bytes` and lists more than one live file; or, in version
 * 4, to replace a manifest of an earlier version.
 *
 * @param specId the partition spec of the manifests to rewrite; by default the table's default partition spec
 * @param sortBy the names of the partition fields to sort by first; the remaining fields follow in the order of the
 *   partition spec
 */
final class RewriteManifests(
    specId: Option[Int] = None,
    sortBy: Vector[String] = Vector.empty,
    to: SnapshotTarget = SnapshotTarget.Main
) extends SnapshotAction(to) {
  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges =
    FileChanges(Vector.empty, mergesManifests = false, rewrite = Some(rewriteOf(base)))

  /**
   * Returns the rewrite of the manifests of a version of the table.
   *
   * @throws NotFound if the table has no such partition spec, or if the partition spec has no such field
   */
  private[iceberglite] def rewriteOf(base: TableMetadata): ManifestRewrite = {
    val id = specId.getOrElse(base.defaultSpecId)
    val spec = base.specsById.getOrElse(
      id,
      throw NotFound(
        ObjectKind.PartitionSpec,
        id.toString,
        s"The table has the partition specs ${base.specs.map(_.specId).mkString(", ")}"
      )
    )
    val targetBytes = TableProperty.of(TableProperty.ManifestTargetSize, base.properties)
    new SpecRewrite(id, RewriteManifests.order(spec, sortBy), targetBytes)
  }

  /** Rewrites the manifests of one partition spec. */
  private class SpecRewrite(id: Int, byPartition: PartitionOrdering, targetBytes: Long) extends ManifestRewrite {
    override def choose[P <: PartSummary](parts: Vector[P]): Vector[P] =
      ManifestContent.all.toVector.flatMap { content =>
        val manifests = parts.filter(p => p.specId == id && p.content == content)
        val isDivisible = manifests.exists(m => m.length > targetBytes && m.liveFiles.forall(_ > 1))
        if (manifests.size > 1 || isDivisible || manifests.exists(_.isOutdated)) manifests else Vector.empty
      }

    override def order(spec: PartitionSpec): Ordering[PartitionTuple] = byPartition
  }

  override protected def operation(tree: WrittenTree): Operation = Operation.Replace

  override protected def commitsEmpty: Boolean = false
}

private object RewriteManifests {

  /** Orders partitions by the values of the given fields first. */
  private def order(spec: PartitionSpec, sortBy: Vector[String]): PartitionOrdering = {
    val first = sortBy.map { name =>
      val index = spec.fields.indexWhere(_.name == name)
      if (index < 0)
        throw NotFound(
          ObjectKind.PartitionField,
          name,
          s"The partition spec has the fields ${spec.fields.map(_.name).mkString(", ")}"
        )
      index
    }
    new PartitionOrdering(first ++ spec.fields.indices.filterNot(first.contains))
  }
}
