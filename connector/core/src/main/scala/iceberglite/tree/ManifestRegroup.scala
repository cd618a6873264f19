package iceberglite.tree

import iceberglite.spec.EntryStatus.Existing
import iceberglite.spec.{ManifestContent, ManifestEntry, ManifestFile, PartitionSpec, TableProperty}

/** A manifest that an attempt has written, with its rows as written. */
final private[tree] case class WrittenManifest(manifest: ManifestFile, rows: Vector[ManifestEntry])

/**
 * Writes manifests anew, with their live files in an order that lets a scan skip most of them. The files keep their
 * numbers, row ids and the snapshots that added them.
 *
 * @param write puts rows into a manifest
 */
final private[tree] class ManifestRegroup(
    tree: ManifestListTree,
    header: TreeHeader,
    write: (ManifestContent, PartitionSpec, Vector[ManifestEntry]) => WrittenManifest
) {

  /** @param done what takes the place of which; the rows are those of this attempt's manifests alone */
  case class Outcome(done: RegroupedManifests, written: Vector[WrittenManifest]) {
    private val gone = done.from.map(_.path).toSet

    /** Of the manifests that were there, those that stay. */
    def stays(manifest: ManifestFile): Boolean = !gone(manifest.path)
  }

  /** @param earlier what an attempt before this one did: as good, as long as all that it stands for is still there */
  def of(kept: Vector[ManifestFile], by: Regrouping, earlier: Option[RegroupedManifests]): Option[Outcome] = {
    // After an upgrade another commit may have given their rows ids, which are not in what was written before.
    val there = kept.map(m => (m.path, m.firstRowId)).toSet
    val again =
      earlier.filter(e => e.version == header.formatVersion && e.from.forall(m => there((m.path, m.firstRowId))))
    again.map(e => Outcome(e, e.to.map(WrittenManifest(_, Vector.empty)))).orElse {
      val chosen = by.chosen(kept)
      if (chosen.isEmpty) None else Some(regroup(chosen, by))
    }
  }

  private def regroup(chosen: Vector[ManifestFile], by: Regrouping): Outcome = {
    val target = TableProperty.of(TableProperty.ManifestTargetSize, header.properties)
    val groups = chosen.map(m => (m.content, m.partitionSpecId)).distinct.map { group =>
      val manifests = chosen.filter(m => (m.content, m.partitionSpecId) == group)
      val rows = InParallel.map(manifests)(tree.entries(_).filter(_.isLive).toVector).flatten
      (group._1, tree.spec(manifests.head), rows)
    }
    val runs = groups.flatMap { case (content, spec, rows) =>
      val sorted = rows.sortBy(_.file.partition)(by.order(spec)).map(_.copy(status = Existing))
      ManifestListWrite.rolled(sorted, target)(_.file).map((content, spec, _))
    }
    val written = InParallel.map(runs) { case (content, spec, rows) => write(content, spec, rows) }
    val processed = groups.map(_._3.size).sum
    Outcome(RegroupedManifests(chosen, written.map(_.manifest), header.formatVersion, processed), written)
  }
}
