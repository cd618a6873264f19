package iceberglite.peer

import org.apache.iceberg.ScanTaskParser
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.json.{ChangeGenerators, ScanTaskJson}
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}

/** Apache Iceberg reads the content files and tasks that we write, and we read those that it writes. */
class ScanTaskJsonPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** Excludes NaN and infinities, which the peer does not accept as JSON partition values. */
  private def shared(file: ContentFile): Boolean = file.partition.values.flatten.forall {
    case FloatLiteral(v) => !v.isNaN && !v.isInfinite
    case DoubleLiteral(v) => !v.isNaN && !v.isInfinite
    case _ => true
  }

  test("files and tasks are equal in Apache Iceberg", JsonRules.contentFiles, JsonRules.scanTasks) {
    val tasks = ChangeGenerators.task.map(_.copy(residual = AlwaysTrue)).suchThat(t =>
      (t.dataFile +: t.deleteFiles).forall(shared)
    )
    forAll(tasks) { task =>
      val peers = ScanTaskParser.toJson(ScanTaskParser.fromJson(ScanTaskJson.toJson(task), true))
      val again = ScanTaskJson.parse("peer", peers)
      assert(again.dataFile == task.dataFile)
      assert(again.deleteFiles == task.deleteFiles)
      assert(again == task)
    }
  }
}
