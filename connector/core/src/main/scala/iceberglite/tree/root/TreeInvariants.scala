package iceberglite.tree.root

import iceberglite.puffin.DeletionVector
import iceberglite.spec.IcebergError
import iceberglite.spec.file.{Content, EntryStatus, ManifestEntry}
import iceberglite.spec.types.Literal
import iceberglite.tree.{PartFilter, SnapshotFiles, TreeTable}

/**
 * A violated rule for metadata trees of version 4.
 *
 * @param rule the number of the rule, such as `I4`
 */
final private[iceberglite] case class TreeViolation(rule: String, reason: String)

/**
 * Checks the tree of a snapshot against the invariants of version 4. The check reads the root and all leaves. The
 * readers of these files check the rules I1 to I3, about the key-value metadata of each file and about the fields that
 * an entry must have.
 *
 * @param parent the files of the parent snapshot, in any layout; absent if there is no parent or it has expired
 */
final private[root] class TreeInvariants(files: RootFiles, parent: Option[SnapshotFiles], table: TreeTable) {
  private def io = table.io
  private val snapshotId = files.snapshot.snapshotId

  /** Returns the violated rules; empty if the tree is valid. */
  def violations: Vector[TreeViolation] =
    try vectors ++ grownVectors ++ uniqueFiles ++ leafStats ++ rowIds ++ changes ++ newFiles ++ rewrites
    catch { case e: IcebergError.UnreadableFile => Vector(TreeViolation("I1-I3", e.getMessage)) }

  private lazy val entries: Vector[ManifestEntry] = files.parts.flatMap(files.entries(_))
  private lazy val live: Vector[ManifestEntry] = entries.filter(_.isLive)
  private lazy val parentLive: Vector[ManifestEntry] =
    parent.toVector.flatMap(p => p.parts.flatMap(p.entries(_)).filter(_.isLive))

  private def check(rule: String, isViolated: Boolean, reason: => String): Vector[TreeViolation] =
    if (isViolated) Vector(TreeViolation(rule, reason)) else Vector.empty

  /** I4: a leaf has at most one live deletion vector, and the root that lists a vector also lists its leaf. */
  private def vectors: Vector[TreeViolation] = {
    val leaves = files.leaves.map(_.path).toSet
    files.vectors.toVector.flatMap { case (leaf, v) =>
      check("I4", v.live.size > 1, s"The leaf $leaf has ${v.live.size} live deletion vectors") ++
        check("I4", v.live.nonEmpty && !leaves(leaf), s"The deletion vector of $leaf applies to no leaf of the root")
    }
  }

  /**
   * I5: if the parent also has the leaf, the deletion vector of the leaf contains all positions of the parent's vector.
   */
  private def grownVectors: Vector[TreeViolation] = parent.toVector.collect { case p: RootFiles => p }.flatMap { p =>
    val before = p.leaves.map(l => l.path -> l.vector).toMap
    files.leaves.flatMap { leaf =>
      val lost = before.getOrElse(leaf.path, DeletionVector.Empty).without(leaf.vector)
      check("I5", !lost.isEmpty, s"The deletion vector of ${leaf.path} has lost ${lost.cardinality} positions")
    }
  }

  /**
   * I6: no file is live more than once, a data file has at most one deletion vector, the data file of each deletion
   * vector is live, and the root lists the data manifest that a delete manifest is affiliated with.
   */
  private def uniqueFiles: Vector[TreeViolation] = {
    val keys = live.map(InlinePart.key)
    val data = live.filter(_.file.content == Content.Data).map(_.file.path).toSet
    val vectorsOf = live.filter(_.file.isDeletionVector).flatMap(_.file.referencedDataFile)
    val leaves = files.leaves.map(_.path).toSet
    keys.diff(keys.distinct).distinct.map(k => TreeViolation("I6", s"The file $k is live more than once")) ++
      vectorsOf.diff(vectorsOf.distinct).distinct.map(f => TreeViolation("I6", s"$f has several deletion vectors")) ++
      vectorsOf.filterNot(data).map(f => TreeViolation("I6", s"The deletion vector of $f applies to no live file")) ++
      files.leaves.flatMap(l =>
        l.leaf.referencedFile.filterNot(leaves).map(target =>
          TreeViolation("I6", s"The manifest ${l.path} is affiliated to $target, which is not in the root")
        )
      )
  }

  /**
   * I7: the counts of a leaf are those of its entries, and the statistics of the leaf cover the statistics of every
   * live file in it.
   */
  private def leafStats: Vector[TreeViolation] = files.leaves.filter(_.isColumnar).flatMap { leaf =>
    val own = RootManifests.read(io, leaf.path, files.columns).entries
    val counted = LeafManifestWriter.count(own, leaf.sequenceNumber)
    val isTooHigh = leaf.minSequenceNumber > counted.minSequenceNumber
    val found = leaf.leaf.manifest.map(_.copy(minSequenceNumber = counted.minSequenceNumber))
    check("I7", !found.contains(counted), s"The counts of ${leaf.path} differ from $counted") ++
      check("I7", isTooHigh, s"The minimum sequence number of ${leaf.path} exceeds ${counted.minSequenceNumber}") ++
      own.filter(_.isLive).flatMap(e =>
        narrow(leaf.leaf.stats, e.stats).map(id =>
          TreeViolation("I7", s"The statistics of the column $id of ${leaf.path} do not contain those of ${e.location}")
        )
      )
  }

  /**
   * Returns the ids of the columns for which the statistics of a leaf do not cover the statistics of one of its files.
   */
  private def narrow(leaf: ContentStats, file: ContentStats): Vector[Int] = leaf.byId.toVector.collect {
    case (id, all) if !containsAll(all, file.byId.getOrElse(id, FieldStats.Empty)) => id
  }

  private def containsAll(leaf: FieldStats, file: FieldStats): Boolean = {
    val order = Literal.ordering
    val lowers = leaf.lower.forall(l => file.hasNoOrdinaryValues || file.lower.exists(order.lteq(l, _)))
    val uppers =
      leaf.upper.forall(u => file.hasNoOrdinaryValues || file.upper.orElse(file.lower).exists(order.gteq(u, _)))
    val counts = Seq[FieldStats => Option[Long]](_.valueCount, _.nullCount, _.nanCount)
    lowers && uppers && counts.forall(count => count(leaf).forall(n => count(file).exists(_ <= n)))
  }

  /** I9: live data files have disjoint ranges of row ids. */
  private def rowIds: Vector[TreeViolation] = {
    val data = live.map(_.file).filter(_.content == Content.Data)
    val missing = data.filter(_.firstRowId.isEmpty).map(f => TreeViolation("I9", s"${f.path} has no first row id"))
    val ranges = data.flatMap(f => f.firstRowId.map(first => (first, first + f.recordCount, f.path))).sorted
    val overlaps = ranges.zip(ranges.drop(1)).collect {
      case ((_, end, a), (start, _, b)) if start < end =>
        TreeViolation("I9", s"$a and $b have the same row ids")
    }
    missing ++ overlaps
  }

  /**
   * I10: the changes according to the root are the difference between its live files and the live files of the parent.
   */
  private def changes: Vector[TreeViolation] = {
    val (added, removed) = files.changes(PartFilter.All).toVector.partition(_.isLive)
    val (now, before) = (live.map(InlinePart.key).toSet, parentLive.map(InlinePart.key).toSet)
    check("I10", added.map(InlinePart.key).toSet != now.diff(before), "The added files are not those of the root") ++
      check("I10", removed.map(InlinePart.key).toSet != before.diff(now), "The removed files are not those of the root")
  }

  /** I11: a leaf that is carried over lists no file that the snapshot adds. */
  private def newFiles: Vector[TreeViolation] =
    files.leaves.filter(_.leaf.version.status != EntryStatus.Added).flatMap { leaf =>
      val added = files.entries(leaf).filter(e => e.status == EntryStatus.Added && e.snapshotId.contains(snapshotId))
      check("I11", added.nonEmpty, s"The manifest ${leaf.path} is existing, but lists files that the snapshot adds")
    }

  /** I13: if the root no longer lists a leaf of the parent, all live files of this leaf are still live. */
  private def rewrites: Vector[TreeViolation] = parent.toVector.collect { case p: RootFiles => p }.flatMap { p =>
    val kept = files.leaves.map(_.path).toSet
    val gone = p.leaves.filterNot(l => kept(l.path)).flatMap(p.entries(_)).filter(_.isLive)
    val now = live.map(InlinePart.key).toSet
    gone.filterNot(e => now(InlinePart.key(e))).map(e =>
      TreeViolation("I13", s"${e.file.path} was in a manifest that the root no longer lists, and is not live any more")
    )
  }
}
