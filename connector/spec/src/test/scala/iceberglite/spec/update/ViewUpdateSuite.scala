package iceberglite.spec.update

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetadataRules
import iceberglite.spec.{FormatVersion, IcebergError, SampleTables}
import iceberglite.spec.IcebergError._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.IntType
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.ViewUpdate._
import iceberglite.spec.view.{ViewLogEntry, ViewMetadata, ViewVersion}
import iceberglite.spec.view.ViewRepresentation.Sql

class ViewUpdateSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.optional(1, "n", IntType)))
  private val otherSchema = Schema(0, Vector(NestedField.optional(1, "m", IntType)))
  private val nowMs = 1000L

  private def version(sql: String, timeMs: Long = 500, dialect: String = "spark"): ViewVersion =
    ViewVersion(1, LastAdded, timeMs, Map.empty, Vector(Sql(sql, dialect)), None, Vector("db"))

  private def versionUpdates(sql: String, timeMs: Long = 500, dialect: String = "spark"): Seq[ViewUpdate] = Seq(
    AddSchema(schema, 1),
    AddViewVersion(version(sql, timeMs, dialect)),
    SetCurrentViewVersion(LastAdded)
  )

  private val created: ViewMetadata =
    create(AssignUuid(SampleTables.Uuid) +: SetLocation("s3://b/v") +: versionUpdates("SELECT 1"): _*)

  private def create(updates: ViewUpdate*): ViewMetadata = ViewUpdate.create(updates, nowMs)

  private def applied(base: ViewMetadata, updates: ViewUpdate*): ViewMetadata =
    ViewUpdate.applyAll(base, updates, nowMs)

  private def replacedBy(base: ViewMetadata, count: Int): ViewMetadata =
    (1 to count).foldLeft(base)((v, i) => applied(v, versionUpdates(s"SELECT 1 + $i", 500L + i): _*))

  test("a new view has version 1, which is current and logged with its own time", MetadataRules.viewVersions) {
    assert(created.currentVersionId == 1 && created.currentVersion.schemaId == 0)
    assert(created.versionLog == Vector(ViewLogEntry(500, 1)))
    assert(created.currentVersion.operation.contains(ViewVersion.Create))
  }

  test("replacing a view adds a version and a log entry", MetadataRules.viewVersions) {
    val replaced = applied(created, versionUpdates("SELECT 2", 600): _*)
    assert(replaced.currentVersionId == 2 && replaced.versions.size == 2 && replaced.schemas.size == 1)
    assert(replaced.versionLog == Vector(ViewLogEntry(500, 1), ViewLogEntry(600, 2)))
    assert(replaced.currentVersion.operation.contains(ViewVersion.Replace))
  }

  test("a new version records the version that it replaces", MetadataRules.viewVersions) {
    assert(created.currentVersion.parentVersionId.contains(ViewVersion.NoParent))
    val replaced = applied(created, versionUpdates("SELECT 2", 600): _*)
    assert(replaced.currentVersion.parentVersionId.contains(1))
    val rolledBack = applied(replaced, SetCurrentViewVersion(1))
    val third = applied(rolledBack, versionUpdates("SELECT 3", 700): _*)
    assert(third.versions.map(_.parentVersionId) == Vector(Some(-1), Some(1), Some(1)))
    val given = AddViewVersion(version("SELECT 4").copy(schemaId = 0, parentVersionId = Some(2)))
    assert(applied(third, given).version(4).parentVersionId.contains(2))
  }

  test("a rollback adds a log entry with the current time, and no version", MetadataRules.viewRollback) {
    val rolledBack = applied(applied(created, versionUpdates("SELECT 2", 600): _*), SetCurrentViewVersion(1))
    assert(rolledBack.versions.size == 2)
    assert(rolledBack.versionLog.last == ViewLogEntry(nowMs, 1))
  }

  test("an identical version is reused", MetadataRules.viewVersionReuse) {
    val replaced = applied(created, versionUpdates("SELECT 2", 600): _*)
    val replacedAgain = applied(replaced, versionUpdates("SELECT 1", 700): _*)
    assert(replacedAgain.currentVersionId == 1 && replacedAgain.versions == replaced.versions)
    assert(applied(created, versionUpdates("SELECT 1", 700): _*) == created)
    val withProperties = AddViewVersion(version("SELECT 1").copy(schemaId = 0, properties = Map("a" -> "b")))
    assert(applied(created, withProperties).versions.size == 2, "properties belong to the definition of a version")
  }

  test(
    "old versions expire, except the current version and the versions of the same change",
    MetadataRules.viewHistory
  ) {
    val many = replacedBy(created, 14)
    assert(many.versions.map(_.versionId) == (6 to 15))
    assert(many.versionLog.map(_.versionId) == (6 to 15))
    val rolledBack =
      applied(many, SetCurrentViewVersion(7), SetProperties(Map(ViewMetadata.HistorySizeProperty -> "2")))
    assert(rolledBack.versions.map(_.versionId) == Vector(7, 15))
    assert(rolledBack.versionLog.map(_.versionId) == Vector(15, 7))
    val keepOneVersion = SetProperties(Map(ViewMetadata.HistorySizeProperty -> "1"))
    val added = applied(created, keepOneVersion +: (versionUpdates("SELECT 2") ++ versionUpdates("SELECT 3")): _*)
    assert(added.versions.map(_.versionId) == Vector(2, 3))
  }

  test("the number of versions to keep must be a positive integer", MetadataRules.viewHistory) {
    Seq("0", "-1", "x").foreach { text =>
      intercept[InvalidArgument](applied(created, SetProperties(Map(ViewMetadata.HistorySizeProperty -> text))))
    }
  }

  test("a view's UUID never changes", MetadataRules.viewUuid) {
    val error = intercept[ValidationFailed](applied(created, AssignUuid(new UUID(1, 2))))
    assert(error.getMessage.contains("never changes"))
    val requirement = ViewRequirement.AssertViewUuid(SampleTables.Uuid)
    requirement.check(Some(created), "c.db.v")
    intercept[ValidationFailed](requirement.check(Some(created.copy(uuid = Some(new UUID(1, 2)))), "c.db.v"))
    intercept[ValidationFailed](requirement.check(None, "c.db.v"))
  }

  test("a version with two queries in one dialect is rejected", MetadataRules.viewDialects) {
    val queries = Vector(Sql("a", "spark"), Sql("b", "Spark"))
    val update = AddViewVersion(version("SELECT 1").copy(schemaId = 0, representations = queries))
    assert(intercept[ValidationFailed](applied(created, update)).getMessage.contains("two for spark"))
  }

  test(
    "a replacement that loses a dialect is rejected unless the view property allows it",
    MetadataRules.viewDialects
  ) {
    val lost = versionUpdates("SELECT 1", dialect = "trino")
    assert(intercept[ValidationFailed](applied(created, lost: _*)).getMessage.contains("would lose its query in spark"))
    val allowed = SetProperties(Map(ViewMetadata.DropDialectProperty -> "true"))
    assert(applied(created, allowed +: lost: _*).currentVersion.dialects == Vector("trino"))
  }

  test("versions and schemas must exist before they are used", MetadataRules.viewVersions) {
    intercept[NotFound](applied(created, SetCurrentViewVersion(5)))
    intercept[NotFound](applied(created, AddViewVersion(version("x").copy(schemaId = 5))))
    intercept[ValidationFailed](applied(created, AddViewVersion(version("x"))))
    intercept[ValidationFailed](applied(created, SetCurrentViewVersion(LastAdded)))
    intercept[IcebergError](create(SetLocation("x")))
    intercept[IcebergError](create(versionUpdates("SELECT 1"): _*))
    intercept[Unsupported](applied(created, UpgradeFormatVersion(FormatVersion.V2)))
  }

  test("a version whose schema is missing cannot become the current version", MetadataRules.viewRollback) {
    val replaced = applied(created, versionUpdates("SELECT 2", 600): _*)
    val damaged =
      replaced.copy(versions = replaced.versions.map(v => if (v.versionId == 1) v.copy(schemaId = 9) else v))
    val error = intercept[NotFound](applied(damaged, SetCurrentViewVersion(1)))
    assert(error.getMessage.contains("Version 1 of the view at s3://b/v refers to this schema"))
  }

  test("no version or schema is added after the highest possible id", MetadataRules.viewVersions) {
    val lastVersion = created.currentVersion.copy(versionId = Int.MaxValue)
    val fullVersions = created.copy(versions = created.versions :+ lastVersion.copy(defaultNamespace = Vector("x")))
    val versionError = intercept[ValidationFailed](applied(fullVersions, versionUpdates("SELECT 2"): _*))
    assert(versionError.getMessage.contains("it has a version with the id 2147483647"))
    val fullSchemas = created.copy(schemas = created.schemas :+ Schema(Int.MaxValue, Vector.empty))
    val schemaError = intercept[ValidationFailed](applied(fullSchemas, AddSchema(otherSchema, 1)))
    assert(schemaError.getMessage.contains("it has a schema with the id 2147483647"))
  }

  test("schemas, properties and the location can be changed", MetadataRules.viewVersions) {
    val changed = applied(
      created,
      AddSchema(otherSchema, 1),
      SetProperties(Map("a" -> "1", "b" -> "2")),
      RemoveProperties(Set("a")),
      SetLocation("s3://new"),
      UpgradeFormatVersion(FormatVersion.V1)
    )
    assert(changed.schemas.map(_.schemaId) == Vector(0, 1) && changed.schema == schema)
    assert(changed.properties == Map("b" -> "2") && changed.location == "s3://new")
  }
}
