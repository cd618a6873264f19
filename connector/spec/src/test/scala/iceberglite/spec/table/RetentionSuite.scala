package iceberglite.spec.table

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.MetadataRules
import iceberglite.spec.{FormatVersion, IcebergError}
import iceberglite.spec.SampleTables.empty
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main, Tag}
import iceberglite.spec.update.MetadataUpdate

class RetentionSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val nowMs = 1000L

  private def snapshot(id: Long, parent: Option[Long], timeMs: Long): Snapshot =
    Snapshot(id, parent, id, timeMs, Some(s"/$id.avro"), Vector.empty, Map.empty, None)

  /**
   * Returns a table with snapshots at the times 100, 200 and so on. Snapshots 1 to 4 are on main. Snapshot 5 is a child
   * of 2, snapshot 6 is a child of 5, and snapshot 7 is a child of 1. Only `refs` can refer to these three snapshots.
   */
  private def table(refs: (String, SnapshotRef)*): TableMetadata = {
    val parents =
      Vector(1L -> None, 2L -> Some(1L), 3L -> Some(2L), 4L -> Some(3L), 5L -> Some(2L), 6L -> Some(5L), 7L -> Some(1L))
    empty(FormatVersion.V2).copy(
      snapshots = parents.map { case (id, parent) => snapshot(id, parent, id * 100) },
      lastSequenceNumber = 7,
      currentSnapshotId = Some(4L),
      refs = Map[String, SnapshotRef](Main -> Branch(4)) ++ refs
    )
  }

  private def remaining(retention: Retention, m: TableMetadata): Set[Long] =
    m.snapshots.map(_.snapshotId).toSet -- retention.expired(m, nowMs).snapshotIds

  private val strict = Retention(olderThanMs = Long.MaxValue, minSnapshotsToKeep = 1, maxRefAgeMs = Long.MaxValue)

  test("the strictest retention keeps only snapshots that a branch or tag refers to", MetadataRules.retention) {
    assert(remaining(strict, table()) == Set(4L))
    assert(remaining(strict, table("b" -> Branch(6), "t" -> Tag(1))) == Set(4L, 6L, 1L))
    assert(strict.expired(table(), nowMs).refs.isEmpty)
  }

  test(
    "a branch keeps its newest snapshots by number or by age, depending on which rule keeps more snapshots",
    MetadataRules.retention
  ) {
    assert(remaining(strict.copy(minSnapshotsToKeep = 3), table()) == Set(4L, 3L, 2L))
    assert(remaining(strict.copy(minSnapshotsToKeep = 1, olderThanMs = 150), table("s" -> Tag(7), "u" -> Branch(6))) ==
      Set(2L, 3L, 4L, 5L, 6L, 7L))
    val own = table("b" -> Branch(6, minSnapshotsToKeep = Some(2)))
    assert(remaining(strict, own) == Set(4L, 6L, 5L))
    val aged = table("b" -> Branch(6, maxSnapshotAgeMs = Some(550)))
    assert(remaining(strict, aged) == Set(4L, 6L, 5L))
  }

  test("a branch keeps at most the maximum number of snapshots, unless its minimum is higher") {
    val limited = Retention(olderThanMs = 0, minSnapshotsToKeep = 1, maxRefAgeMs = Long.MaxValue, Some(2))
    assert(remaining(limited, table()) == Set(4L, 3L, 5L, 6L, 7L))
    assert(remaining(limited.copy(minSnapshotsToKeep = 3), table()) == Set(4L, 3L, 2L, 5L, 6L, 7L))
    assert(remaining(limited, table("b" -> Branch(6, minSnapshotsToKeep = Some(3)), "t" -> Tag(7))) ==
      Set(4L, 3L, 6L, 5L, 2L, 7L))
  }

  test(
    "beyond the first ancestor that is too old, no ancestor is kept, even if it is newer",
    MetadataRules.retention
  ) {
    val m = table().copy(snapshots =
      Vector(snapshot(1, None, 900), snapshot(2, Some(1), 100), snapshot(4, Some(2), 950))
    )
    assert(remaining(strict.copy(olderThanMs = 500), m) == Set(4L))
  }

  test("branches and tags expire by the age of their snapshot, but main never expires", MetadataRules.refRetention) {
    val m = table("b" -> Branch(6), "t" -> Tag(1), "keep" -> Tag(1, Some(5000)))
    val expired = strict.copy(maxRefAgeMs = 500).expired(m, nowMs)
    assert(expired.refs == Set("t"))
    val none = strict.copy(maxRefAgeMs = 0).expired(m, nowMs)
    assert(none.refs == Set("t", "b") && !none.snapshotIds(4) && !none.snapshotIds(1))
  }

  test("a snapshot of exactly the maximum age is kept", MetadataRules.retention, MetadataRules.refRetention) {
    assert(remaining(strict.copy(olderThanMs = 300), table()) == Set(4L, 3L, 5L, 6L, 7L))
    assert(strict.copy(maxRefAgeMs = 900).expired(table("t" -> Tag(1)), nowMs).refs.isEmpty)
  }

  test("staged snapshots are kept until the table's age limit", MetadataRules.stagedRetention) {
    assert(remaining(strict.copy(olderThanMs = 650), table()) == Set(4L, 7L))
    assert(remaining(strict.copy(olderThanMs = 750), table()) == Set(4L))
  }

  test("table properties define the default retention", MetadataRules.retention) {
    val m = table().copy(properties =
      Map(
        "history.expire.max-snapshot-age-ms" -> "650",
        "history.expire.min-snapshots-to-keep" -> "3",
        "history.expire.max-ref-age-ms" -> "70"
      )
    )
    assert(Retention.of(m, nowMs) == Retention(350, 3, 70))
    assert(Retention.of(table(), nowMs) == Retention(nowMs - 432000000L, 1, Long.MaxValue))
    intercept[IcebergError](Retention.of(
      m.copy(properties = Map("history.expire.min-snapshots-to-keep" -> "0")),
      nowMs
    ))
    intercept[IcebergError](Retention.of(m.copy(properties = Map("history.expire.max-ref-age-ms" -> "x")), nowMs))
  }

  test(
    "an expiration can be applied as updates, and is computed even if the parents of snapshots form a cycle",
    MetadataRules.retention
  ) {
    val m = table("t" -> Tag(1))
    val expired = strict.copy(maxRefAgeMs = 500).expired(m, nowMs)
    val next = MetadataUpdate.applyAll(m, expired.updates, m.lastUpdatedMs)
    assert(next.refs.keySet == Set(Main) && next.snapshots.map(_.snapshotId) == Vector(4L))
    assert(Expiration(Set.empty, Set.empty).isEmpty && Expiration(Set.empty, Set.empty).updates.isEmpty)
    val circle =
      m.copy(snapshots = Vector(snapshot(4, Some(3), 400), snapshot(3, Some(4), 300)), refs = Map(Main -> Branch(4)))
    assert(remaining(strict.copy(olderThanMs = 0), circle) == Set(3L, 4L))
    assert(circle.ancestors(circle.snapshot(4)).map(_.snapshotId).toVector == Vector(4L, 3L))
  }

  test(
    "for any history, snapshots of branches and tags and newest ancestors of branches are kept; other old ones expire",
    MetadataRules.retention
  ) {
    forAll(RetentionSuite.history, RetentionSuite.retention) { (m, retention) =>
      val expired = retention.expired(m, nowMs)
      val kept = m.refs -- expired.refs
      assert(kept.contains(Main) == m.refs.contains(Main))
      kept.values.foreach(ref => assert(!expired.snapshotIds(ref.snapshotId)))
      kept.values.collect { case b: Branch => b }.foreach { b =>
        val chain = m.ancestors(m.snapshot(b.snapshotId)).map(_.snapshotId).toVector
        val min = b.minSnapshotsToKeep.getOrElse(retention.minSnapshotsToKeep)
        assert(chain.take(min).forall(id => !expired.snapshotIds(id)))
      }
      val limit = kept.values.collect { case b: Branch => b.maxSnapshotAgeMs.fold(retention.olderThanMs)(nowMs - _) }
      val oldest = (limit ++ Seq(retention.olderThanMs)).min
      m.snapshots.filter(s => s.timestampMs < oldest && !expired.snapshotIds(s.snapshotId)).foreach { s =>
        assert(kept.values.exists {
          case t: Tag => t.snapshotId == s.snapshotId
          case b: Branch => m.ancestors(m.snapshot(b.snapshotId))
              .take(b.minSnapshotsToKeep.getOrElse(retention.minSnapshotsToKeep)).contains(s)
        })
      }
    }
  }
}

object RetentionSuite {

  /**
   * Generates snapshots at times from 0 to 1000. Each snapshot has no parent, or a snapshot with a lower id as its
   * parent. In some histories, a parent is newer than its child. Branches and tags refer to some of the snapshots.
   */
  val history: Gen[TableMetadata] = for {
    count <- Gen.choose(1, 12)
    parents <- Gen.listOfN(count, Gen.option(Gen.choose(1L, 12L)))
    times <- Gen.listOfN(count, Gen.choose(0L, 1000L))
    ordered <- Gen.oneOf(true, false)
    refs <- Gen.choose(0, 4).flatMap(Gen.listOfN(_, ref(count)))
    main <- Gen.option(Gen.choose(1L, count.toLong))
  } yield {
    val inOrder = if (ordered) times.sorted else times
    val snapshots = parents.zip(inOrder).zipWithIndex.map { case ((parent, time), i) =>
      val id = i + 1L
      Snapshot(
        id,
        parent.filter(_ < id),
        id,
        time,
        Some(s"/$id.avro"),
        Vector.empty,
        Map("operation" -> "append"),
        None
      )
    }.toVector
    empty(FormatVersion.V2).copy(
      lastUpdatedMs = 2000,
      snapshots = snapshots,
      lastSequenceNumber = count.toLong,
      currentSnapshotId = main,
      refs =
        refs.zipWithIndex.map { case (r, i) => s"r$i" -> r }.toMap[String, SnapshotRef] ++ main.map(Main -> Branch(_))
    )
  }

  private def ref(count: Int): Gen[SnapshotRef] = for {
    id <- Gen.choose(1L, count.toLong)
    keep <- Gen.option(Gen.choose(1, 5))
    age <- Gen.option(Gen.choose(1L, 1000L))
    refAge <- Gen.option(Gen.choose(1L, 1000L))
    ref <- Gen.oneOf[SnapshotRef](Branch(id, keep, age, refAge), Tag(id, refAge))
  } yield ref

  val retention: Gen[Retention] = Gen.zip(Gen.choose(0L, 1000L), Gen.choose(1, 4), Gen.choose(1L, 1200L))
    .map { case (older, keep, age) => Retention(older, keep, age) }
}
