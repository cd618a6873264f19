package iceberglite.spec.json

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import com.sun.management.ThreadMXBean
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.JsonRules
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.IntType
import iceberglite.spec.update.MetadataUpdate.{AddSchema, LastAdded, SetProperties}
import iceberglite.spec.update.ViewUpdate
import iceberglite.spec.update.ViewUpdate.{AddViewVersion, SetCurrentViewVersion}
import iceberglite.spec.view.{ViewMetadata, ViewVersion}
import iceberglite.spec.view.ViewRepresentation.Sql
import iceberglite.{Fuzz, MoreRoundsInSlowTier}

/**
 * Tests that damaged view metadata is read or rejected with an `IcebergError`, and that a change to damaged metadata
 * that can be read does not make the view unreadable.
 */
@MoreRoundsInSlowTier
class ViewMetadataFuzzSuite extends AnyFunSuite {

  /** The memory that [[use]] may allocate for each byte of its input, which it parses, changes and writes often. */
  private val MaxAllocatedPerByte = 2000L

  private val views: IndexedSeq[String] = (0L until 20L).map { i =>
    ViewMetadataJson.toJson(ChangeGenerators.view.pureApply(Gen.Parameters.default, Seed(Fuzz.seed + i)))
  }

  private val replacement: Seq[ViewUpdate] = Seq(
    SetProperties(Map(ViewMetadata.DropDialectProperty -> "true")),
    AddSchema(Schema(0, Vector(NestedField.optional(1, "added by the test", IntType))), 1),
    AddViewVersion(ViewVersion(1, LastAdded, 500, Map.empty, Vector(Sql("SELECT 1", "spark")), None, Vector("db"))),
    SetCurrentViewVersion(LastAdded)
  )

  private def use(json: Array[Byte]): Unit = {
    val view = ViewMetadataJson.parse("f.json", json)
    view.schema
    val rollbacks = view.versions.map(v => replacement.take(1) :+ SetCurrentViewVersion(v.versionId))
    (replacement +: rollbacks).foreach { updates =>
      val changed =
        try Some(ViewUpdate.applyAll(view, updates, 900))
        catch { case _: IcebergError => None }
      changed.foreach { next =>
        val reread = Try(ViewMetadataJson.parse("written.json", ViewMetadataJson.toBytes(next)))
        assert(reread.toOption.contains(next), s"after $updates: $reread")
      }
    }
  }

  test("truncated view metadata is rejected", JsonRules.hostile) {
    Fuzz.run("cut view metadata", 400) { random =>
      val json = views(random.nextInt(views.size))
      json.take(random.nextInt(json.length))
    }(json => intercept[IcebergError](ViewMetadataJson.parse("f.json", json)))
  }

  test("view metadata with changed tokens throws no other error than IcebergError", JsonRules.hostile) {
    Fuzz.json("tokens of view metadata", 600, views)(json => use(json.getBytes(UTF_8)))
  }

  test("view metadata with changed bytes throws no other error than IcebergError", JsonRules.hostile) {
    Fuzz.bytes("bytes of view metadata", 600, views.map(_.getBytes(UTF_8)))(use)
  }

  test("extreme ids of versions and schemas do not make a view unreadable after a change", JsonRules.hostile) {
    val ids = Seq(Int.MaxValue, Int.MaxValue - 1, Int.MinValue, -1, 0)
    for (json <- views; id <- ids; key <- Seq("version-id", "schema-id")) {
      val damaged = s""""$key":-?[0-9]+""".r.replaceAllIn(json, s""""$key":$id""")
      val once = s""""$key":-?[0-9]+""".r.replaceFirstIn(json, s""""$key":$id""")
      Seq(damaged, once).foreach { text =>
        try use(text.getBytes(UTF_8))
        catch { case _: IcebergError => () }
      }
    }
  }

  test("random bytes and deep nesting are rejected", JsonRules.hostile) {
    Fuzz.run("random bytes", 400) { random =>
      val bytes = new Array[Byte](random.nextInt(64))
      random.nextBytes(bytes)
      bytes
    }(bytes => intercept[IcebergError](ViewMetadataJson.parse("f.json", bytes)))
    Seq("[" * 100000, """{"versions":""" * 100000).foreach { json =>
      intercept[IcebergError](ViewMetadataJson.parse("f.json", json.getBytes(UTF_8)))
    }
    val keys = Seq("versions", "schemas", "properties", "view-uuid", "unknown")
    for (depth <- Seq(5000, 100000); key <- keys) {
      val nested = s"""{"$key":${"[" * depth}${"]" * depth},${views.head.drop(1)}"""
      val error = intercept[IcebergError](ViewMetadataJson.parse("f.json", nested.getBytes(UTF_8)))
      assert(error.getMessage.length < 10000, s"$key, depth $depth")
    }
  }

  test("damaged numbers and repeated parts of view metadata are read with bounded memory", JsonRules.hostile) {
    val threads = ManagementFactory.getPlatformMXBean(classOf[ThreadMXBean])
    def allocated: Long = threads.getThreadAllocatedBytes(Thread.currentThread.getId)
    val huge = "9" * 1000
    val numbers = for (json <- views; number <- Seq(huge, s"1e$huge", "1e999999999", "-1e-999999999"))
      yield json.replaceAll(":-?[0-9]+([,}])", s":$number$$1")
    val entry = """{"timestamp-ms":1,"version-id":1}"""
    val log = views.map(_.replaceFirst(""""version-log":\[""", s""""version-log":[${s"$entry," * 50000}"""))
    (numbers ++ log.take(2)).foreach { json =>
      val before = allocated
      try use(json.getBytes(UTF_8))
      catch { case _: IcebergError => () }
      val perByte = (allocated - before) / json.length
      assert(perByte < MaxAllocatedPerByte, json.take(1000))
    }
  }

  test(
    "deeply nested types of columns are read and changed, or rejected, without a stack overflow",
    JsonRules.hostile
  ) {
    def list(id: Int): String = s"""{"type":"list","element-id":$id,"element-required":true,"element":"""
    def json(depth: Int): Array[Byte] = {
      val lists = (2 until 2 + depth).map(list).mkString
      val column = s"""{"id":1,"name":"a","required":true,"type":$lists"int"${"}" * depth}}"""
      val schema = s"""{"type":"struct","schema-id":999,"fields":[$column]}"""
      views.head.replace(""""schemas":[""", s""""schemas":[$schema,""").getBytes(UTF_8)
    }
    for (depth <- Seq(1, 390)) {
      assert(ViewMetadataJson.parse("f.json", json(depth)).schemasById.contains(999))
      use(json(depth))
    }
    for (depth <- Seq(400, 5000)) intercept[InvalidMetadata](ViewMetadataJson.parse("f.json", json(depth)))
  }
}
