package iceberglite.maintenance

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.compact.{DeleteFinding, DeleteFindings}
import iceberglite.maintenance.compact.DeleteFinding.{HasVector, LiveData, Positions}
import iceberglite.puffin.DeletionVector

/** Tests which deleted positions of a data file a rewrite of position delete files keeps. */
class PositionDeleteMergeSuite extends AnyFunSuite {

  private def applicable(findings: DeleteFinding*): DeletionVector = {
    val all = new DeleteFindings
    findings.foreach(all += _)
    all.applicable
  }

  private val (older, newer) = (Positions(3L, DeletionVector.of(1L)), Positions(5L, DeletionVector.of(1L, 1L << 33)))

  test("the deletes of several files are merged, in whichever order they are found") {
    for (findings <- Seq(older, newer, LiveData(2L)).permutations)
      assert(applicable(findings: _*) == DeletionVector.of(1L, 1L << 33))
  }

  test("deletes of a data file that is not live are dropped") {
    assert(applicable(older, newer).isEmpty)
  }

  test("deletes that are older than the data file are dropped, because they do not apply to it") {
    assert(applicable(older, LiveData(4L)).isEmpty)
    assert(applicable(older, LiveData(3L)) == DeletionVector.of(1L))
    assert(applicable(Positions(3L, DeletionVector.of(7L)), newer, LiveData(4L)) == DeletionVector.of(1L, 1L << 33))
  }

  test("deletes of a data file with a deletion vector are dropped, because they do not apply to it") {
    assert(applicable(newer, LiveData(2L), HasVector).isEmpty)
  }

  test("a DeleteFinding does not change when it is serialized and parsed") {
    for (finding <- Seq(older, newer, LiveData(Long.MaxValue), HasVector))
      assert(DeleteFinding.parse("a", finding.toBytes) == finding)
  }
}
