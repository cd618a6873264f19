package iceberglite.peer

import org.apache.iceberg.ScanTaskParser
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.json.{ChangeGenerators, ScanTaskJson}
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}

/** Tests that iceberg-lite and Apache Iceberg read each other's JSON of content files and scan tasks. */
class ScanTaskJsonPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** Returns whether all partition values are finite. Apache Iceberg does not accept NaN and infinities in JSON. */
  private def isCommon(file: ContentFile): Boolean = file.partition.values.flatten.forall {
    case FloatLiteral(v) => !v.isNaN && !v.isInfinite
    case DoubleLiteral(v) => !v.isNaN && !v.isInfinite
    case _ => true
  }

  test(
    "content files and scan tasks do not change when Apache Iceberg reads and writes them",
    JsonRules.contentFiles,
    JsonRules.scanTasks
  ) {
    val tasks = ChangeGenerators.task.map(_.copy(residual = AlwaysTrue)).suchThat(t =>
      (t.dataFile +: t.deleteFiles).forall(isCommon)
    )
    forAll(tasks) { task =>
      val fromPeer = ScanTaskParser.toJson(ScanTaskParser.fromJson(ScanTaskJson.toJson(task), true))
      val readBack = ScanTaskJson.parse("peer", fromPeer)
      assert(readBack.dataFile == task.dataFile)
      assert(readBack.deleteFiles == task.deleteFiles)
      assert(readBack == task)
    }
  }
}
