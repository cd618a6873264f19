package iceberglite.scan.stream

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.scan.stream.StreamContent.Appends
import iceberglite.scan.stream.StreamPosition.{After, InCommit}
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, StringType}
import iceberglite.tree.TestTable
import iceberglite.tree.TestTable.file

/** Tests [[TrackedSchema]], which finds the commits with other columns than those that a stream reads. */
class TrackedSchemaSuite extends AnyFunSuite {
  private val id = NestedField.required(1, "id", IntType)
  private val current = Schema(0, Vector(id, NestedField.optional(2, "name", StringType)))
  private val before = Schema(0, Vector(id))
  private val table = new TestTable(current)
  Seq("a", "b", "c").foreach(name => table.append(file(name)))
  private val state = StreamState(table.tree, table.metadata.currentSnapshot)
  private val commits = state.newestFirst.toVector.reverse

  private def tracked(since: Option[Long], schema: Schema = before): TrackedSchema =
    TrackedSchema(new UUID(1, 2), TrackedSchema.Reader("query", Some("0")), since, schema)

  private def change(commits: Vector[Snapshot], since: Option[Long]): Option[Long] =
    tracked(since).firstChange(state, commits, Appends()).map(_.commit.snapshotId)

  test("commits after the recorded one are compared, and those before it are not, also if it is not one of them") {
    val Vector(first, second, third) = commits.map(_.snapshotId)
    assert(change(commits, None).contains(first), "the columns were recorded while the branch was empty")
    assert(change(commits, Some(first)).contains(second))
    assert(change(commits, Some(third)).isEmpty)
    assert(change(commits.drop(1), Some(first)).contains(second), "a commit before the position of the stream")
    assert(change(commits.take(2), Some(third)).isEmpty, "a commit that is newer than the planned ones")
    assert(change(commits, Some(99L)).contains(first), "a snapshot that was rolled back and has expired")
  }

  test("a commit without the id of a known schema has the current columns, so that no added column is missed") {
    for (schemaId <- Seq(None, Some(99))) {
      val unknown = commits.map(_.copy(schemaId = schemaId))
      val found = tracked(Some(commits(0).snapshotId)).firstChange(state, unknown, Appends())
      assert(found.map(c => c.commit -> c.columns).contains(unknown(1) -> Vector("column name was added")))
      assert(found.exists(_.next.schema == current))
    }
  }

  test("if a snapshot that was read in part has expired, the columns do not advance") {
    val found = tracked(None).firstChange(state, commits, Appends()).getOrElse(fail("no change"))
    assert(found.before(state, After(99L), commits).isEmpty)
    val partly = intercept[NotFound](found.before(state, InCommit(99L, 1), commits))
    assert(partly.getMessage.contains("99, the position of a stream"))
  }

  test("recorded columns are read as they were written") {
    for (columns <- Seq(tracked(Some(5L)), tracked(None, current)))
      assert(TrackedSchema.parse("file", TrackedSchema.toJson(columns)) == columns)
  }
}
