package iceberglite.spark.stream.source

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.scan.stream.{StreamContent, StreamLimit, StreamOffset, StreamPlanner, StreamPosition}
import iceberglite.spark.conf.TimeTravel
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.TestMetadata._
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.table.{
  Actions,
  Change,
  Committer,
  CountingCommitter,
  StreamConsumer,
  Table,
  TableIdentifier,
  TableVersion,
  TestTables
}
import iceberglite.table.action.{ExpireOptions, ExpireSnapshots, SetRef}
import iceberglite.tree.ManifestCache

/**
 * Tests how many requests a streaming read sends to the catalog, and how the tag of its `consumer-id` is kept. A poll
 * is the search for new commits at a trigger.
 */
class StreamTableSuite extends AnyFunSuite {

  test("each poll sends one request to the catalog, and a snapshot that is already loaded needs no request") {
    val actions = new Actions(TestTables.unpartitioned())
    val loaded = actions.append(TestTables.file("a"))
    val catalog = new CountingCommitter(actions.committer)
    val table =
      new StreamTable(new Table(loaded.id, loaded.name, loaded.version, loaded.io, catalog), TimeTravel.Latest)
    val planner = new StreamPlanner(StreamContent.Appends(), ManifestCache.Disabled)
    val known = StreamOffset(StreamPosition.After(loaded.currentSnapshot.get.snapshotId))
    assert((1 to 10).forall(_ => planner.next(table.poll(), known, StreamLimit.Unlimited).isEmpty))
    assert(catalog.requests == 10)
    table.including(known.position)
    assert(catalog.requests == 10)
    val appended = actions.append(TestTables.file("b")).currentSnapshot.map(_.snapshotId)
    val state = table.including(StreamPosition.After(appended.get))
    assert(catalog.requests == 11 && state.head.map(_.snapshotId) == appended)
  }

  test("the tag of a consumer needs a request when it moves, and none while the table does not change") {
    val actions = new Actions(TestTables.unpartitioned())
    val loaded = actions.append(TestTables.file("a"))
    val catalog = new CountingCommitter(actions.committer)
    val table =
      new StreamTable(new Table(loaded.id, loaded.name, loaded.version, loaded.io, catalog), TimeTravel.Latest)
    val tag = new ConsumerTag(etl, 1000000000000L)
    val position = StreamPosition.After(loaded.currentSnapshot.get.snapshotId)
    tag.advance(table, position)
    assert(catalog.requests == 1)
    (0 until 10).foreach { _ =>
      table.poll()
      tag.requireSingleQuery(table)
      tag.advance(table, position)
    }
    assert(catalog.requests == 11)
  }

  test("only another UUID means that the table was replaced; other errors of a load are reported as they are") {
    val actions = new Actions(TestTables.unpartitioned())
    val loaded = actions.append(TestTables.file("a"))
    var answer: () => TableVersion = () => loaded.version
    val catalog = new Committer {
      override def load(id: TableIdentifier): TableVersion = answer()
      override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
        actions.committer.commit(id, base, change)
    }
    val table =
      new StreamTable(new Table(loaded.id, loaded.name, loaded.version, loaded.io, catalog), TimeTravel.Latest)
    table.poll()
    val invalid = ValidationFailed("The metadata has two snapshots with the id 1. Load the table again")
    answer = () => throw invalid
    assert(intercept[ValidationFailed](table.poll()) == invalid)
    val (before, after) = (loaded.metadata.uuid.get, new UUID(1, 2))
    answer = () => loaded.version.copy(metadata = loaded.metadata.edited(uuid = Some(after)))
    val replaced = intercept[ValidationFailed](table.poll())
    assert(replaced.message.contains(s"has read a table with the UUID $before, and ${loaded.name} has the UUID $after"))
    answer = () => loaded.version
    assert(table.poll().metadata.uuid.contains(before), "the table is not replaced by the other one")
  }

  private val etl = StreamConsumer("etl")

  test("a consumer does not replace a branch with the name of its tag") {
    val actions = new Actions(TestTables.unpartitioned())
    val id = actions.append(TestTables.file("a")).currentSnapshot.get.snapshotId
    actions.commit(new SetRef(etl.tag, SnapshotRef.Branch(id)))
    val table = new StreamTable(actions.table, TimeTravel.Latest)
    val error = intercept[InvalidArgument](new ConsumerTag(etl, 1000L).advance(table, StreamPosition.After(id)))
    assert(error.getMessage.contains("The table has a branch stream-etl"))
    assert(actions.table.metadata.refs(etl.tag) == SnapshotRef.Branch(id))
  }

  private def retainOne = new ExpireSnapshots(ExpireOptions(olderThanMs = Some(Long.MaxValue), retainLast = Some(1)))

  private def appended(actions: Actions, path: String): Long =
    actions.append(TestTables.file(path)).currentSnapshot.map(_.snapshotId).getOrElse(fail("no snapshot"))

  private def snapshotIds(actions: Actions): Vector[Long] = actions.table.metadata.snapshots.map(_.snapshotId)

  test("an expiration keeps what a consumer has not read, even if the tag is set or moved during the expiration") {
    for (isTagged <- Seq(false, true)) {
      val actions = new Actions(TestTables.unpartitioned())
      val ids = Seq("a", "b", "c", "d").map(appended(actions, _))
      val tag = new ConsumerTag(etl, 1000000000000L)
      val table = new StreamTable(actions.table, TimeTravel.Latest)
      if (isTagged) tag.advance(table, StreamPosition.After(ids(1)))
      val loaded = actions.table
      tag.advance(table, StreamPosition.After(ids(2)))
      // The expiration is computed for a version without the tag or with its earlier position, and then again.
      actions.commitOn(loaded, retainOne)
      assert(snapshotIds(actions) == ids.drop(2), s"isTagged=$isTagged")
    }
  }

  test("a consumer cannot set its tag to a snapshot that has expired after the consumer has loaded the table") {
    val actions = new Actions(TestTables.unpartitioned())
    val Seq(first, second) = Seq("a", "b").map(appended(actions, _))
    val table = new StreamTable(actions.table, TimeTravel.Latest)
    actions.commit(retainOne)
    val error =
      intercept[NotFound](new ConsumerTag(etl, 1000000000000L).advance(table, StreamPosition.After(first)))
    assert(error.kind == ObjectKind.Snapshot && error.name == first.toString)
    assert(snapshotIds(actions) == Vector(second) && !actions.table.metadata.refs.contains(etl.tag))
  }

  test("tags without a maximum age and tags with a blank id are not those of consumers") {
    val actions = new Actions(TestTables.unpartitioned())
    val id = actions.append(TestTables.file("a")).currentSnapshot.get.snapshotId
    val age = Some(1000000000000L)
    actions.commit(new SetRef("stream-release", SnapshotRef.Tag(id)))
    actions.commit(new SetRef("stream- ", SnapshotRef.Tag(id, age)))
    actions.commit(new SetRef(etl.tag, SnapshotRef.Tag(id, age)))
    assert(StreamConsumer.of(actions.table.metadata) == Vector(etl -> SnapshotRef.Tag(id, age)))
  }

  test("the tag of a consumer is retained for the given time after its last move, even on an old snapshot") {
    val actions = new Actions(TestTables.unpartitioned())
    val snapshot = actions.append(TestTables.file("a")).currentSnapshot.get
    val table = new StreamTable(actions.table, TimeTravel.Latest)
    def ageAfter(lagMs: Long, retentionMs: Long = 1000L): Option[Long] = {
      val tag = new ConsumerTag(etl, retentionMs, () => snapshot.timestampMs + lagMs)
      tag.advance(table, StreamPosition.After(snapshot.snapshotId))
      actions.table.metadata.refs(etl.tag).maxRefAgeMs
    }
    assert(ageAfter(5000L).contains(6000L))
    assert(ageAfter(5500L).contains(6000L), "half of the retention must remain")
    assert(ageAfter(5501L).contains(6501L))
    assert(ageAfter(6000L, Long.MaxValue).contains(Long.MaxValue))
  }
}
