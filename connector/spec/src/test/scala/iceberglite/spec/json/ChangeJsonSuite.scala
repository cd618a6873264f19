package iceberglite.spec.json

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.IcebergError.{InvalidMetadata, Unsupported}
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.spec.update.{MetadataUpdate, ViewRequirement}
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.Requirement._
import iceberglite.spec.update.ViewUpdate._

/** Tests the JSON forms of metadata updates and requirements. */
class ChangeJsonSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def update(json: String): MetadataUpdate = MetadataUpdateJson.parse("request", json)

  private def rejection(json: String): InvalidMetadata = intercept[InvalidMetadata](update(json))

  test("every table update round-trips through JSON", JsonRules.updates) {
    forAll(ChangeGenerators.update)(u => assert(update(MetadataUpdateJson.toJson(u)) == u))
  }

  test("every requirement round-trips through JSON", JsonRules.requirements) {
    forAll(ChangeGenerators.requirement)(r => assert(RequirementJson.parse("r", RequirementJson.toJson(r)) == r))
    val view = ViewRequirement.AssertViewUuid(SampleTables.Uuid)
    assert(ViewRequirementJson.parse("r", ViewRequirementJson.toJson(view)) == view)
  }

  test("every view update round-trips through JSON", JsonRules.viewUpdates) {
    forAll(ChangeGenerators.viewUpdate)(u => assert(ViewUpdateJson.parse("r", ViewUpdateJson.toJson(u)) == u))
  }

  test("updates have the names of the REST catalog specification", JsonRules.updates) {
    Seq(
      AssignUuid(SampleTables.Uuid) -> s"""{"action":"assign-uuid","uuid":"${SampleTables.Uuid}"}""",
      UpgradeFormatVersion(FormatVersion.V2) -> """{"action":"upgrade-format-version","format-version":2}""",
      SetCurrentSchema(-1) -> """{"action":"set-current-schema","schema-id":-1}""",
      SetDefaultSpec(1) -> """{"action":"set-default-spec","spec-id":1}""",
      SetDefaultSortOrder(1) -> """{"action":"set-default-sort-order","sort-order-id":1}""",
      RemoveSnapshots(Set(2L, 1L)) -> """{"action":"remove-snapshots","snapshot-ids":[1,2]}""",
      RemoveSnapshotRef("a") -> """{"action":"remove-snapshot-ref","ref-name":"a"}""",
      SetSnapshotRef("a", SnapshotRef.Tag(5, Some(9))) ->
        """{"action":"set-snapshot-ref","ref-name":"a","snapshot-id":5,"type":"tag","max-ref-age-ms":9}""",
      SetProperties(Map("k" -> "v")) -> """{"action":"set-properties","updates":{"k":"v"}}""",
      RemoveProperties(Set("k")) -> """{"action":"remove-properties","removals":["k"]}""",
      SetLocation("l") -> """{"action":"set-location","location":"l"}""",
      RemoveStatistics(3) -> """{"action":"remove-statistics","snapshot-id":3}""",
      RemovePartitionStatistics(3) -> """{"action":"remove-partition-statistics","snapshot-id":3}""",
      RemovePartitionSpecs(Set(1)) -> """{"action":"remove-partition-specs","spec-ids":[1]}""",
      RemoveSchemas(Set(1)) -> """{"action":"remove-schemas","schema-ids":[1]}""",
      RemoveEncryptionKey("k") -> """{"action":"remove-encryption-key","key-id":"k"}"""
    ).foreach { case (value, json) =>
      assert(MetadataUpdateJson.toJson(value) == json)
      assert(update(json) == value)
    }
    assert(ViewUpdateJson.toJson(SetCurrentViewVersion(-1)) ==
      """{"action":"set-current-view-version","view-version-id":-1}""")
  }

  test(
    "the deprecated keys of property updates are read, and the new keys take precedence",
    JsonRules.deprecatedUpdates
  ) {
    assert(update("""{"action":"set-properties","updated":{"a":"1"}}""") == SetProperties(Map("a" -> "1")))
    assert(update("""{"action":"remove-properties","removed":["a"]}""") == RemoveProperties(Set("a")))
    val bothKeys = """{"action":"set-properties","updated":{"a":"1"},"updates":{"a":"2"}}"""
    assert(update(bothKeys) == SetProperties(Map("a" -> "2")))
    assert(rejection("""{"action":"set-properties"}""").reason == "The key updates is missing")
  }

  test("a schema without the deprecated last-column-id uses its own highest id", JsonRules.deprecatedUpdates) {
    val fields = """"fields":[{"id":7,"name":"x","required":false,"type":"int"}]"""
    val added = update(s"""{"action":"add-schema","schema":{"type":"struct","schema-id":0,$fields}}""")
    assert(added.asInstanceOf[AddSchema].lastColumnId == 7)
  }

  test("actions and requirement types are case-insensitive, and unknown keys are ignored", JsonRules.updates) {
    assert(update("""{"action":"SET-LOCATION","location":"l","x":[1]}""") == SetLocation("l"))
    assert(RequirementJson.parse("r", """{"type":"ASSERT-CREATE"}""") == AssertCreate)
  }

  test("a requirement that a reference does not exist writes null as its snapshot id", JsonRules.requirements) {
    val none = AssertRefSnapshotId("main", None)
    assert(RequirementJson.toJson(none) == """{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}""")
    assert(RequirementJson.parse("r", """{"type":"assert-ref-snapshot-id","ref":"main"}""") == none)
  }

  test("unknown updates, wrong types and invalid references are reported with their JSON path", JsonRules.strict) {
    assert(rejection("""{"action":"fly"}""").path == "$.action")
    assert(rejection("""{"action":"set-location","location":5}""").path == "$.location")
    assert(rejection("""{"action":"remove-snapshots","snapshot-ids":[1,"2"]}""").path == "$.snapshot-ids[1]")
    assert(rejection("""{"action":"assign-uuid","uuid":"1-2"}""").path == "$.uuid")
    rejection("""{"action":"set-snapshot-ref","ref-name":"main","snapshot-id":1,"type":"tag"}""")
    rejection("""{"action":"set-snapshot-ref","ref-name":"b","snapshot-id":1,"type":"branch","max-ref-age-ms":0}""")
    rejection("[]")
    intercept[Unsupported](update("""{"action":"upgrade-format-version","format-version":9}"""))
    intercept[InvalidMetadata](RequirementJson.parse("r", """{"type":"assert-nothing"}"""))
    intercept[InvalidMetadata](ViewRequirementJson.parse("r", """{"type":"assert-create"}"""))
    intercept[InvalidMetadata](ViewUpdateJson.parse("r", """{"action":"add-snapshot"}"""))
  }
}
