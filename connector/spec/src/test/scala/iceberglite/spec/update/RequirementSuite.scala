package iceberglite.spec.update

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetadataRules
import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.IcebergError._
import iceberglite.spec.SampleTables._
import iceberglite.spec.update.Requirement._

class RequirementSuite extends AnyFunSuite {
  private val base = withHistory(V2)

  test("requirements that the table meets are accepted") {
    AssertCreate.check(None, "lite.db.t")
    Seq(
      AssertTableUuid(Uuid),
      AssertRefSnapshotId("main", Some(3L)),
      AssertRefSnapshotId("audit", None),
      AssertLastAssignedFieldId(base.lastColumnId),
      AssertCurrentSchemaId(0),
      AssertLastAssignedPartitionId(1001),
      AssertDefaultSpecId(0),
      AssertDefaultSortOrderId(0)
    ).foreach(_.check(Some(base), "lite.db.t"))
  }

  test("an unmet requirement is a conflict whose message describes the concurrent change") {
    val expected = Seq(
      AssertRefSnapshotId("main", Some(2L)) -> "snapshot of main was 2 and is now 3",
      AssertRefSnapshotId("main", None) -> "snapshot of main was none and is now 3",
      AssertRefSnapshotId("audit", Some(1L)) -> "snapshot of audit was 1 and is now none",
      AssertLastAssignedFieldId(1) -> "last assigned field id was 1",
      AssertCurrentSchemaId(1) -> "current schema was 1 and is now 0",
      AssertLastAssignedPartitionId(999) -> "partition field id was 999",
      AssertDefaultSpecId(1) -> "default partition spec was 1",
      AssertDefaultSortOrderId(1) -> "default sort order was 1"
    )
    expected.foreach { case (requirement, reason) =>
      val error = intercept[CommitConflict](requirement.check(Some(base), "lite.db.t"))
      assert(error.table == "lite.db.t")
      assert(error.reason.contains(reason))
    }
  }

  test("if the table was replaced or created concurrently, the error is not a retryable conflict", MetadataRules.uuid) {
    val uuidError = intercept[ValidationFailed](AssertTableUuid(new UUID(1, 2)).check(Some(base), "lite.db.t"))
    assert(uuidError.message.contains(Uuid.toString))
    intercept[ValidationFailed](AssertTableUuid(Uuid).check(None, "lite.db.t"))
    assert(intercept[AlreadyExists](AssertCreate.check(Some(base), "lite.db.t")).name == "lite.db.t")
  }
}
