package iceberglite.spec.json

import java.nio.file.{Files, Path, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.JsonRules
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, LongType, StringType}
import iceberglite.spec.view.{ViewLogEntry, ViewMetadata, ViewVersion}
import iceberglite.spec.view.ViewRepresentation.Sql

/**
 * Compares view metadata with the two example files of the specification (view spec: "Appendix A"). In the copies of
 * these files, the explanatory text is removed and the invalid punctuation is corrected. Each file `*-written.json`
 * contains the form in which this library writes the same view.
 */
class ViewGoldenSuite extends AnyFunSuite {
  private val directory = Paths.get("connector/spec/src/test/golden")
  private val mapper = new ObjectMapper

  private val both = Schema(
    1,
    Vector(
      NestedField.optional(0, "c1", IntType).copy(doc = Some("")),
      NestedField.optional(1, "c2", StringType).copy(doc = Some(""))
    )
  )
  private val count = Schema(2, Vector(NestedField.optional(0, "my_cnt", LongType).copy(doc = Some(""))))

  private val firstVersion = ViewVersion(
    1,
    1,
    1573518431292L,
    Map("operation" -> "create", "engineVersion" -> "presto-350"),
    Vector(Sql("SELECT *\nFROM\n  base_tab\n", "presto")),
    Some("iceberg"),
    Vector("anorwood"),
    parentVersionId = Some(-1)
  )

  private val secondVersion = ViewVersion(
    2,
    2,
    1573518440265L,
    Map("operation" -> "replace", "engineVersion" -> "spark-2.4.4"),
    Vector(Sql("SELECT \"count\"(*) my_cnt\nFROM\n  base_tab\n", "spark")),
    Some("iceberg"),
    Vector("anorwood"),
    parentVersionId = Some(1)
  )

  private val created = ViewMetadata(
    None,
    "s3n://my_company/my/warehouse/anorwood.db/common_view",
    Vector(both),
    1,
    Vector(firstVersion),
    Vector(ViewLogEntry(1573518431292L, 1)),
    Map("comment" -> "View captures all the data from the table")
  )

  private val replaced = created.copy(
    schemas = Vector(both, count),
    currentVersionId = 2,
    versions = Vector(firstVersion, secondVersion),
    versionLog = created.versionLog :+ ViewLogEntry(1573518440265L, 2),
    properties = Map("comment" -> "View captures count of the data from the table")
  )

  private def file(name: String): Path = directory.resolve(s"$name.json")

  for ((name, view) <- Seq("view-created" -> created, "view-replaced" -> replaced)) {
    test(s"every field of the specification's example $name is read", JsonRules.earlyViews) {
      assert(ViewMetadataJson.parse(name, Files.readString(file(name))) == view)
    }

    test(s"the specification's example $name is written in the current and the early form", JsonRules.earlyViews) {
      val expected = mapper.readTree(Files.readString(file(s"$name-written")))
      assert(mapper.readTree(ViewMetadataJson.toJson(view)) == expected)
      assert(ViewMetadataJson.parse(name, expected.toString) == view)
    }
  }
}
