package iceberglite.tree.manifestlist

import iceberglite.spec.file.{ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.file.EntryStatus.Existing
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.property.TableProperty
import iceberglite.tree.{ManifestRewrite, MetadataPool, TreeTable}

/** A manifest that an attempt has written, and its entries without inherited values. */
final private[manifestlist] case class WrittenManifest(manifest: ManifestFile, rows: Vector[ManifestEntry])

/** The result of a rewrite. @param written the manifests that this or an earlier attempt has written */
final private[manifestlist] case class RewrittenManifests(
    replacement: ManifestReplacement,
    written: Vector[WrittenManifest]
) {
  private val replaced = replacement.oldManifests.map(_.path).toSet

  /** Returns whether a manifest of the parent was not replaced. */
  def isKept(part: ManifestPart): Boolean = !replaced(part.path)
}

/**
 * Rewrites manifests. The live entries of the manifests are written to new manifests in a given order, so that scans
 * can skip more manifests. The sequence numbers, row ids and snapshot ids of the entries do not change.
 *
 * @param entries reads a manifest of the parent
 * @param write writes rows to a new manifest
 */
final private[manifestlist] class ManifestRewriter(
    table: TreeTable,
    entries: ManifestPart => Iterator[ManifestEntry],
    write: (ManifestContent, PartitionSpec, Vector[ManifestEntry]) => WrittenManifest
) {

  private val version = table.metadata.formatVersion

  /**
   * Returns the rewritten manifests; absent if no manifest is chosen.
   *
   * @param kept the manifests of the parent that may be rewritten
   * @param earlier the result of an earlier attempt. This result is reused if the parent snapshot still has all
   *   manifests that were replaced
   */
  def rewriteChosen(
      kept: Vector[ManifestPart],
      by: ManifestRewrite,
      earlier: Option[ManifestReplacement]
  ): Option[RewrittenManifests] = {
    // The first row ids are also compared, because after an upgrade to version 3, another commit may have assigned row
    // ids that the entries of the earlier attempt do not have.
    val listed = kept.map(m => (m.path, m.manifest.firstRowId)).toSet
    val reusable =
      earlier.filter(e => e.version == version && e.oldManifests.forall(m => listed((m.path, m.firstRowId))))
    reusable.map(e => RewrittenManifests(e, e.newManifests.map(WrittenManifest(_, Vector.empty)))).orElse {
      val chosen = by.choose(kept)
      if (chosen.isEmpty) None else Some(rewrite(chosen, by))
    }
  }

  private def rewrite(chosen: Vector[ManifestPart], by: ManifestRewrite): RewrittenManifests = {
    val target = TableProperty.of(TableProperty.ManifestTargetSize, table.metadata.properties)
    val groups = chosen.map(m => (m.content, m.specId)).distinct.map { group =>
      val parts = chosen.filter(m => (m.content, m.specId) == group)
      val rows = MetadataPool.map(parts)(entries(_).filter(_.isLive).toVector).flatten
      (group._1, parts.head.spec, rows)
    }
    val runs = groups.flatMap { case (content, spec, rows) =>
      val sorted = rows.sortBy(_.file.partition)(by.order(spec)).map(_.copy(status = Existing))
      ManifestListWriter.splitBySize(sorted, target)(_.file).map((content, spec, _))
    }
    val written = MetadataPool.map(runs) { case (content, spec, rows) => write(content, spec, rows) }
    val processed = groups.map(_._3.size).sum
    RewrittenManifests(
      ManifestReplacement(chosen.map(_.manifest), written.map(_.manifest), version, processed),
      written
    )
  }
}
