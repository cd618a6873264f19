package iceberglite.tree.root

import iceberglite.puffin.DeletionVector
import iceberglite.spec.IcebergError
import iceberglite.tree.{SnapshotFiles, TreeTable, TreeViolation}

/**
 * Checks the metadata tree of a snapshot against the rules of version 4 (I1 to I13; see docs/v4.md). The check reads
 * the root manifest and all leaf manifests. The readers of these files check the rules I1 to I3, about the key-value
 * metadata of each file and about the fields that an entry must have. [[LeafInvariants]], [[PartitionInvariants]] and
 * [[FileInvariants]] check the rules about entries. The rule I12 is not checked, because it requires the files of a
 * commit.
 *
 * @param parent the files of the parent snapshot, in any layout; absent if there is no parent or it has expired
 * @param maxFiles the maximum number of files whose paths are in memory at the same time. If a tree lists more files,
 *   its leaves are read several times
 */
final private[root] class TreeInvariants(
    files: RootFiles,
    parent: Option[SnapshotFiles],
    table: TreeTable,
    maxFiles: Int = TreeInvariants.MaxFiles
) {

  /** Returns the violated rules, at most [[TreeInvariants.MaxViolations]]; empty if the tree is valid. */
  def violations: Vector[TreeViolation] = {
    val ofRoot = readable(vectors ++ grownVectors ++ affiliations)
    val isRootReadable = !ofRoot.exists(_.rule == TreeInvariants.Unreadable)
    val ofParts = if (isRootReadable) parts else Vector.empty
    val found = ofRoot ++ ofParts
    // The rules about files would report each file of an unreadable leaf.
    val isReadable = !found.exists(_.rule == TreeInvariants.Unreadable)
    lazy val ofFiles = readable(new FileInvariants(files, parent, table, maxFiles).violations)
    (if (isReadable) found ++ ofFiles else found).take(TreeInvariants.MaxViolations)
  }

  private def readable(body: => Vector[TreeViolation]): Vector[TreeViolation] =
    try body
    catch { case e: IcebergError.UnreadableFile => Vector(TreeViolation(TreeInvariants.Unreadable, e.getMessage)) }

  private def check(rule: String, isViolated: Boolean, reason: => String): Vector[TreeViolation] =
    if (isViolated) Vector(TreeViolation(rule, reason)) else Vector.empty

  /**
   * I4: a leaf has at most one live deletion vector, and the root that lists a vector also lists its leaf. The root has
   * a vector with the status `deleted` only if it also has a new vector of the leaf, or if the leaf is removed.
   */
  private def vectors: Vector[TreeViolation] = {
    val leaves = files.leaves.map(_.path).toSet
    val removed = files.removedLeaves.map(_.path).toSet
    files.vectors.toVector.flatMap { case (leaf, v) =>
      val isUnlisted = v.live.nonEmpty && !leaves(leaf) && !removed(leaf)
      val isUnexplained = v.replaced.nonEmpty && !v.live.exists(files.isChange) && !removed(leaf)
      check("I4", v.live.size > 1, s"The leaf $leaf has ${v.live.size} live deletion vectors") ++
        check("I4", isUnlisted, s"The deletion vector of $leaf applies to no leaf of the root") ++
        check("I4", isUnexplained, s"The deletion vector of $leaf is removed, but neither replaced nor is the leaf")
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

  /** I6: the root lists each leaf once. If a delete manifest references a data manifest, the root lists this too. */
  private def affiliations: Vector[TreeViolation] = {
    val paths = files.leaves.map(_.path)
    val leaves = paths.toSet
    paths.diff(leaves.toSeq).distinct.map(path => TreeViolation("I6", s"The root lists the manifest $path twice")) ++
      files.leaves.flatMap(l =>
        l.leaf.referencedFile.filterNot(leaves).map(target =>
          TreeViolation(
            "I6",
            s"The delete manifest ${l.path} applies only to the files of the data manifest $target, which the root " +
              "does not list"
          )
        )
      )
  }

  private def parts: Vector[TreeViolation] = {
    val partitions = new PartitionInvariants(table.specs, files.columns)
    table.pool.map(files.leaves)(leaf =>
      readable(new LeafInvariants(leaf, files, table, partitions).violations)
    ).flatten ++ files.inline.flatMap(part => readable(part.pairs.flatMap(partitions.violations)))
  }
}

private[root] object TreeInvariants {

  /** The default maximum number of files whose paths are in memory. A path takes about 250 bytes of heap. */
  private val MaxFiles = 500000

  /** The maximum number of violations that a check returns, because a damaged root may violate a rule in each entry. */
  val MaxViolations: Int = 1000

  /** The rules that the readers of the files check. */
  private val Unreadable = "I1-I3"
}
