package iceberglite.spark.conf

import scala.collection.JavaConverters._

import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}

/** Checks where the values of options come from, and the size of splits. */
class SparkOptionSuite extends AnyFunSuite {
  private def options(pairs: (String, String)*) = new CaseInsensitiveStringMap(pairs.toMap.asJava)

  private val size = SparkOption.bytes("split-size", "doc", 7).inSession("spark.sql.iceberg.read.split-size")
    .inTable("read.split.target-size")

  private def settings(option: Option[String], session: Option[String], table: Option[String]): Settings = Settings(
    options(option.map("split-size" -> _).toSeq: _*),
    key => session.filter(_ => key == "spark.sql.iceberg.read.split-size"),
    table.map("read.split.target-size" -> _).toMap
  )

  test("an option takes precedence over the session, the session over the table, and the table over the default") {
    assert(settings(Some("1"), Some("2"), Some("3"))(size) == 1)
    assert(settings(None, Some("2"), Some("3"))(size) == 2)
    assert(settings(None, None, Some("3"))(size) == 3)
    assert(settings(None, None, None)(size) == 7)
    assert(size.requested(settings(None, None, Some("3"))).isEmpty)
  }

  test("option names are case-insensitive") {
    assert(Settings(options("Split-SIZE" -> "4"), _ => None, Map.empty)(size) == 4)
  }

  test("the error for an invalid value says where the value is set") {
    val invalidSettings = Seq(
      settings(Some("x"), None, None) -> "option split-size: x",
      settings(None, Some("-1"), None) -> "configuration spark.sql.iceberg.read.split-size: -1",
      settings(None, None, Some("0")) -> "table property read.split.target-size: 0"
    )
    invalidSettings.foreach { case (invalid, expected) =>
      assert(intercept[InvalidArgument](invalid(size)).getMessage.contains(expected))
    }
  }

  test("a misspelled option is rejected with a suggestion, and options of other data sources are accepted") {
    val misspelled = Seq("splitsize" -> "split-size", "split-sise" -> "split-size", "snapshot-ids" -> "snapshot-id")
    misspelled.foreach { case (invalid, suggestion) =>
      val error = intercept[InvalidArgument](ReadOptions.warnings(options(invalid -> "1")))
      assert(error.getMessage.contains(s"did you mean $suggestion?"))
    }
    ReadOptions.warnings(options("mergeSchema" -> "true", "path" -> "/t", "header" -> "x", "tag" -> "v1"))
  }

  test("an option that would change the result is rejected rather than ignored") {
    val error = intercept[Unsupported](ReadOptions.warnings(options("scan-task-set-id" -> "1")))
    assert(error.getMessage.contains("read option scan-task-set-id"))
  }

  private val mb = 1L << 20
  private val settings =
    ReadSettings(128 * mb, adaptive = true, 8, 2, 10, 4 * mb, vectorized = true, 4096, true, dataGrouping = None)

  test("the adaptive split size gives each core one task in a small scan, and up to four in a larger one") {
    assert(settings.splitSizeFor(0) == 4 * mb)
    assert(settings.splitSizeFor(10 * mb) == 8 * mb)
    assert(settings.splitSizeFor(48 * mb) == 24 * mb)
    assert(settings.splitSizeFor(70 * mb) == 20 * mb)
    assert(settings.splitSizeFor(336 * mb) == 44 * mb)
    assert(settings.splitSizeFor(512 * mb) == 64 * mb)
    assert(settings.splitSizeFor(5000 * mb) == 128 * mb)
    assert(settings.copy(cores = 16, parallelism = 64).splitSizeFor(48 * mb) == 4 * mb)
    assert(settings.copy(adaptive = false).splitSizeFor(10 * mb) == 128 * mb)
    assert(settings.copy(splitSize = 2 * mb).splitSizeFor(10 * mb) == 2 * mb)
    assert(settings.copy(fileOpenCost = 0).splitSizeFor(0) == 1)
  }

  test("files that a statement rewrites are not split if there are enough of them for all cores") {
    assert(settings.splitSizeForRewrite(300 * mb, 100 * mb) == 100 * mb)
    assert(settings.splitSizeForRewrite(100 * mb, 60 * mb) == 20 * mb)
  }
}
