package iceberglite.spec.json

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.IcebergError.{InvalidMetadata, Unsupported}
import iceberglite.spec.view.{ViewMetadata, ViewVersion}
import iceberglite.spec.view.ViewRepresentation.{Sql, Unknown}

class ViewMetadataJsonSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val File = "file:/warehouse/db/v/metadata/v1.metadata.json"

  private def read(json: String): ViewMetadata = ViewMetadataJson.parse(File, json)

  private def rejection(json: String): InvalidMetadata = intercept[InvalidMetadata](read(json))

  /** The view after step 4 in "Appendix A: An Example" of the view specification, as valid JSON. */
  private val oldJson = """{
    "format-version": 1, "location": "s3n://my_company/my/warehouse/anorwood.db/common_view", "current-version-id": 2,
    "properties": {"comment": "View captures count of the data from the table"},
    "versions": [
      {"version-id": 1, "parent-version-id": -1, "timestamp-ms": 1573518431292,
       "summary": {"operation": "create", "engineVersion": "presto-350"},
       "representations": [{"type": "sql", "sql": "SELECT *\nFROM\n  base_tab\n", "dialect": "presto", "schema-id": 1,
         "default-catalog": "iceberg", "default-namespace": ["anorwood"]}],
       "properties": {}},
      {"version-id": 2, "parent-version-id": 1, "timestamp-ms": 1573518440265,
       "summary": {"operation": "replace", "engineVersion": "spark-2.4.4"},
       "representations": [{"type": "sql", "sql": "SELECT count(*) my_cnt FROM base_tab", "dialect": "spark",
         "schema-id": 2, "default-catalog": "iceberg", "default-namespace": ["anorwood"]}]}],
    "version-log": [{"timestamp-ms": 1573518431292, "version-id": 1}, {"timestamp-ms": 1573518440265, "version-id": 2}],
    "schemas": [
      {"schema-id": 1, "type": "struct", "fields": [
        {"id": 0, "name": "c1", "required": false, "type": "int", "doc": ""},
        {"id": 1, "name": "c2", "required": false, "type": "string", "doc": ""}]},
      {"schema-id": 2, "type": "struct", "fields": [
        {"id": 0, "name": "my_cnt", "required": false, "type": "long", "doc": ""}]}],
    "current-schema-id": 2}"""

  private val newJson = """{"view-uuid":"fa6506c3-7681-40c8-86dc-e36561f83385","format-version":1,"location":"s3://b/v",
    "current-version-id":1,"properties":{"comment":"Daily"},"versions":[{"version-id":1,"timestamp-ms":1573518431292,
    "schema-id":1,"default-catalog":"prod","default-namespace":["default"],"summary":{"engine-name":"Spark",
    "engine-version":"3.3.2"},"representations":[{"type":"sql","sql":"SELECT 1","dialect":"spark"}]}],
    "schemas":[{"schema-id":1,"type":"struct","fields":[{"id":1,"name":"n","required":false,"type":"int"}]}],
    "version-log":[{"timestamp-ms":1573518431292,"version-id":1}]}"""

  test("all view metadata round-trips through JSON", JsonRules.views) {
    forAll(ChangeGenerators.view)(v => assert(ViewMetadataJson.parse(File, ViewMetadataJson.toBytes(v)) == v))
  }

  test("the current form of view metadata is read", JsonRules.views) {
    val view = read(newJson)
    assert(view.uuid.map(_.toString).contains("fa6506c3-7681-40c8-86dc-e36561f83385"))
    assert(view.currentVersion.defaultCatalog.contains("prod"))
    assert(view.currentVersion.defaultNamespace == Vector("default"))
    assert(view.currentVersion.sql("SPARK").contains("SELECT 1"))
    assert(view.schema.fields.map(_.name) == Vector("n"))
  }

  test("the early form in Appendix A of the view specification is read", JsonRules.earlyViews) {
    val view = read(oldJson)
    assert(view.uuid.isEmpty && view.versions.size == 2 && view.versionLog.size == 2)
    assert(view.currentVersion.representations == Vector(Sql("SELECT count(*) my_cnt FROM base_tab", "spark")))
    assert(view.version(1).schemaId == 1 && view.currentVersion.schemaId == 2)
    assert(view.currentVersion.defaultCatalog.contains("iceberg"))
    assert(view.version(1).defaultNamespace == Vector("anorwood"))
    assert(view.currentVersion.operation.contains(ViewVersion.Replace))
    assert(view.versions.map(_.parentVersionId) == Vector(Some(-1), Some(1)))
    assert(read(ViewMetadataJson.toJson(view)) == view)
  }

  test("version fields are written both to the version and to its queries", JsonRules.earlyViews) {
    val version = """"schema-id":1,"default-catalog":"prod","default-namespace":["default"]"""
    val written = ViewMetadataJson.toJson(read(newJson))
    assert(written.contains("\"current-schema-id\":1,"))
    assert(written.contains(s""""dialect":"spark",$version,"field-aliases":["n"]}"""))
    assert(written.contains(version + ",\"representations\""))
  }

  test("fields of a version take precedence over fields of its queries", JsonRules.earlyViews) {
    val json = newJson.replace(
      "\"dialect\":\"spark\"",
      "\"dialect\":\"spark\",\"default-catalog\":\"other\"," +
        "\"default-namespace\":[],\"schema-id\":7,\"field-aliases\":[\"other\"]"
    )
    assert(read(json) == read(newJson))
  }

  test(
    "column names and comments of a query in the early form are applied to its schema",
    JsonRules.earlyViews
  ) {
    val renamed = read(oldJson.replace(
      "\"dialect\": \"presto\"",
      "\"dialect\": \"presto\", \"field-aliases\": [\"a\", \"b\"], \"field-docs\": [\"first\", null]"
    ))
    val schema = renamed.schemaOf(renamed.version(1))
    assert(schema.fields.map(f => f.name -> f.doc) == Vector("a" -> Some("first"), "b" -> Some("")))
    assert(renamed.schemas.map(_.schemaId) == Vector(1, 2, 3))
    assert(read(ViewMetadataJson.toJson(renamed)) == renamed)
    assert(rejection(oldJson.replace("\"dialect\": \"presto\"", "\"dialect\": \"presto\", \"field-aliases\": [\"a\"]"))
      .reason.contains("2 columns"))
  }

  test(
    "names and comments of columns are written to queries, and parents and properties to versions",
    JsonRules.earlyViews
  ) {
    val early = Seq(
      "\"type\": \"int\", \"doc\": \"\"" -> "\"type\": \"int\"",
      "\"type\": \"string\", \"doc\": \"\"" -> "\"type\": \"string\", \"doc\": \"text\"",
      "\"type\": \"long\", \"doc\": \"\"" -> "\"type\": \"long\"",
      "\"properties\": {}}" -> "\"properties\": {\"b\": \"2\", \"a\": \"1\"}}"
    ).foldLeft(oldJson) { case (json, (from, to)) => json.replace(from, to) }
    val view = read(early)
    assert(view.version(1).properties == Map("a" -> "1", "b" -> "2") && view.version(2).properties.isEmpty)
    val written = ViewMetadataJson.toJson(view)
    Seq(
      """{"version-id":1,"parent-version-id":-1,""",
      """{"version-id":2,"parent-version-id":1,""",
      """"field-aliases":["c1","c2"],"field-docs":[null,"text"]}],"properties":{"a":"1","b":"2"}}""",
      """"field-aliases":["my_cnt"]}]}"""
    ).foreach(part => assert(written.contains(part), part))
  }

  test(
    "the names that are written to queries are the ones that a reader of the early form uses",
    JsonRules.earlyViews
  ) {
    val written = ViewMetadataJson.toJson(read(oldJson))
    val ofVersion = """"schema-id":2,"default-catalog":"iceberg","default-namespace":["anorwood"],"representations""""
    val onlyEarly = written.replace(ofVersion, "\"representations\"").replace("\"name\":\"my_cnt\"", "\"name\":\"n\"")
    assert(read(written).schema.fields.map(_.name) == Vector("my_cnt"))
    assert(read(onlyEarly).schema.fields.map(_.name) == Vector("my_cnt"))
    assert(read(onlyEarly).schemas.map(_.fields.head.name) == Vector("c1", "n", "my_cnt"))
  }

  test("a representation of another type is kept", JsonRules.views) {
    val unknownType = """{"type":"ast","tree":{"a":[1,2.50,null,true]}}"""
    val view = read(newJson.replace("{\"type\":\"sql\"", unknownType + ",{\"type\":\"sql\""))
    assert(view.currentVersion.representations.head == Unknown("ast", unknownType))
    assert(ViewMetadataJson.toJson(view).contains(unknownType))
  }

  test("format version 2 is rejected as unsupported, and format version 0 as invalid", JsonRules.views) {
    val error = intercept[Unsupported](read(newJson.replace("\"format-version\":1", "\"format-version\":2")))
    assert(error.getMessage.contains("version 2") && error.getMessage.contains(File))
    assert(rejection(newJson.replace("\"format-version\":1", "\"format-version\":0")).path == "$.format-version")
  }

  test("contradictions and invalid values are reported with their JSON path", JsonRules.views, JsonRules.strict) {
    Seq(
      ("\"current-version-id\":1", "\"current-version-id\":2", "$.current-version-id"),
      ("\"schema-id\":1,\"default-catalog\"", "\"schema-id\":9,\"default-catalog\"", "$.versions"),
      ("\"view-uuid\":\"fa", "\"view-uuid\":\"xfa", "$.view-uuid"),
      (
        "\"dialect\":\"spark\"}",
        "\"dialect\":\"spark\"},{\"type\":\"sql\",\"sql\":\"x\",\"dialect\":\"SPARK\"}",
        "$.versions[0].representations"
      ),
      ("\"default-namespace\":[\"default\"]", "\"default-namespace\":\"default\"", "$.versions[0].default-namespace"),
      ("\"sql\":\"SELECT 1\",", "", "$.versions[0].representations[0]"),
      ("\"version-log\"", "\"version-log-\"", "$"),
      ("\"summary\"", "\"summary-\"", "$.versions[0]")
    ).foreach { case (from, to, path) =>
      assert(newJson.contains(from), from)
      assert(rejection(newJson.replace(from, to)).path == path)
    }
    val repeated = newJson.replace("\"schemas\":[", "\"schemas\":[{\"schema-id\":1,\"type\":\"struct\",\"fields\":[]},")
    assert(rejection(repeated).reason.contains("Two schemas have the id 1"))
  }
}
