package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.sim.{Check, CheckedHistory, History, Settings, SimulationSuite}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{EntryStatus, ManifestContent}
import iceberglite.spec.metadata.SummaryKey
import iceberglite.tree.SnapshotFiles
import iceberglite.tree.root.VectorContent.{InPuffin, Inline}

/**
 * Tests that the simulated histories of concurrent writers on a failing storage contain all kinds of trees of version
 * 4, so that the rules of the checker are checked for all of them.
 */
class RootHistoriesSuite extends AnyFunSuite {

  /** The trees of a snapshot and of its parent. */
  private case class Trees(files: RootFiles, parent: Option[SnapshotFiles]) {
    private def leavesBefore = parent.collect { case root: RootFiles => root.leaves }.getOrElse(Vector.empty)
    def leaves: Vector[LeafPart] = files.leaves
    def vectors: Vector[LeafVectors] = files.vectors.values.toVector
    def live: Vector[VectorContent] = vectors.flatMap(_.live).flatMap(_.vector)

    /** The new leaves whose files the parent also has. */
    def moved: Vector[LeafPart] = leaves.filter(l =>
      l.leaf.version.status == EntryStatus.Existing && l.leaf.version.snapshotId.contains(files.snapshot.snapshotId)
    )

    def dropped: Vector[LeafPart] = leavesBefore.filter(l => l.hasLiveFiles && !leaves.exists(_.path == l.path))
    def isRewrite: Boolean = files.snapshot.summary.contains("manifests-replaced")
  }

  private def kind(name: String)(isIn: Trees => Boolean): (String, Trees => Boolean) = name -> isIn

  private def isInline(vector: VectorContent): Boolean = vector match {
    case _: Inline => true
    case _: InPuffin => false
  }

  private val kinds = Map(
    kind("leaves of data files")(_.leaves.exists(_.content == ManifestContent.Data)),
    kind("leaves of delete files")(_.leaves.exists(_.content == ManifestContent.Deletes)),
    kind("leaves of the deletion vectors of another leaf")(_.leaves.exists(_.leaf.referencedFile.isDefined)),
    kind("manifests of earlier versions")(_.leaves.exists(!_.isColumnar)),
    kind("deletion vectors of leaves in the root")(_.live.exists(isInline)),
    kind("deletion vectors of leaves in Puffin files")(!_.live.forall(isInline)),
    kind("replaced deletion vectors of leaves")(_.vectors.exists(_.replaced.nonEmpty)),
    kind("files of the root that move to a leaf")(t => t.moved.nonEmpty && t.dropped.isEmpty && !t.isRewrite),
    kind("merged leaves")(t => t.moved.nonEmpty && t.dropped.size > 1 && !t.isRewrite),
    kind("leaves that are rewritten without removed files")(
      _.files.snapshot.summary.contains(SummaryKey.FoldedManifestVectors)
    ),
    kind("rewritten manifests")(_.isRewrite)
  )

  /** Runs a history of eight writers, checks all rules, and returns the kinds of trees that it contains. */
  private def kindsIn(round: Int): Set[String] = {
    val drawn = Settings.of(20240229L * 1000003L + round)
    val settings = drawn.copy(
      version = if (round % 4 == 3) FormatVersion.V2 else FormatVersion.V4,
      writers = 8,
      operations = 5,
      rate = 0.01,
      properties = drawn.properties.filterNot(_._1.startsWith("write.v4."))
    )
    val history = new CheckedHistory(SimulationSuite.check(settings, new History(settings), Check.all))
    val trees = for (step <- history.chain.steps; snapshot <- step.added) yield {
      def files(of: Long) = history.reader.files(step.after.metadata, step.after.metadata.snapshot(of))
      files(snapshot.snapshotId) -> snapshot.parentSnapshotId.map(files(_))
    }
    trees.collect { case (root: RootFiles, parent) => Trees(root, parent) }
      .flatMap(t => kinds.collect { case (kind, isIn) if isIn(t) => kind }).toSet
  }

  test("simulated histories of eight writers with faults contain all kinds of trees, and violate no rule", Slow) {
    val found = Iterator.range(0, 100).map(kindsIn).scanLeft(Set.empty[String])(_ ++ _)
    val all = found.takeWhile(_ != kinds.keySet).toVector
    info(s"${all.size} histories")
    assert(all.size <= 100, s"No history has ${kinds.keySet.diff(all.last).mkString(", ")}")
  }
}
