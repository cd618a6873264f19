package iceberglite.spec.json

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.JsonRules
import iceberglite.spec.IcebergError
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
}
