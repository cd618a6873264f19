package iceberglite.spark.changelog

import java.util.Collections

import scala.collection.JavaConverters._
import scala.collection.immutable.ListMap
import scala.util.Random

import org.apache.spark.SparkException
import org.apache.spark.sql.functions.{col, expr}
import org.apache.spark.sql.types._
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Fuzz
import iceberglite.spark.SharedSession

/** Compares the changelog views with a model that processes the changes one by one. */
class ChangelogViewSuite extends AnyFunSuite with SharedSession {
  private val map = MapType(StringType, DoubleType)
  private val values = new StructType()
    .add("id", IntegerType, nullable = true, "a comment")
    .add("a.b", DoubleType)
    .add("tags", map)
    .add("s", new StructType().add("f", FloatType).add("l", ArrayType(map)).add("none", NullType))
    .add("bytes", BinaryType)
  private val changelog = values
    .add("_change_type", StringType).add("_change_ordinal", IntegerType).add("_commit_snapshot_id", LongType)

  private case class Change(row: Row, kind: String, ordinal: Int)

  private def oneOf[A](random: Random, choices: A*): A = choices(random.nextInt(choices.size))

  /** Returns null or one of four maps. Two of them have equal entries in different orders. */
  private def tags(random: Random): Map[String, Any] = oneOf(
    random,
    null,
    Map.empty[String, Any],
    ListMap("a" -> 0.0, "b" -> null),
    ListMap("b" -> null, "a" -> 0.0),
    Map("a" -> -0.0, "b" -> null)
  )

  private def row(random: Random, id: Any): Row = Row(
    id,
    oneOf[Any](random, 0.0, -0.0, Double.NaN, null),
    if (random.nextBoolean()) null else tags(random),
    oneOf(random, null, Row(0f, null, null), Row(-0f, Seq(tags(random)), null), Row(null, Seq(null), null)),
    oneOf(random, null, Array[Byte](1), Array[Byte](1, 2))
  )

  private def frame(changes: Seq[Change]): DataFrame = {
    val rows = changes.map(c => Row.fromSeq(c.row.toSeq ++ Seq(c.kind, c.ordinal, 100L + c.ordinal)))
    spark.createDataFrame(rows.asJava, changelog)
  }

  /** Returns a text for the value. Equal values have equal texts, and different values have different texts. */
  private def text(value: Any): String = value match {
    case null => "null"
    case bytes: Array[Byte] => bytes.mkString("x", ",", "")
    case m: scala.collection.Map[_, _] =>
      m.map { case (k, v) => s"${text(k)}=${text(v)}" }.toSeq.sorted.mkString("{", ",", "}")
    case s: Seq[_] => s.map(text).mkString("[", ",", "]")
    case r: Row => r.toSeq.map(text).mkString("(", ",", ")")
    case other => other.toString
  }

  private def asText(changes: Seq[Change], view: ChangelogView): Seq[String] = {
    val result = ChangelogView.of(frame(changes), view)
    assert(result.schema.map(f => (f.name, f.dataType)) == changelog.map(f => (f.name, f.dataType)))
    result.collect().map(r => text(r)).toSeq.sorted
  }

  private def expected(changes: Seq[Change]): Seq[String] =
    changes.map(c => text(Row.fromSeq(c.row.toSeq ++ Seq(c.kind, c.ordinal, 100L + c.ordinal)))).sorted

  private def netPerCommit(changes: Seq[Change]): Seq[Change] =
    changes.groupBy(c => (text(c.row), c.ordinal)).values.toSeq.flatMap { group =>
      val (inserts, deletes) = group.partition(_.kind == "INSERT")
      inserts.drop(deletes.size) ++ deletes.drop(inserts.size)
    }

  /**
   * Processes the changes of each row in order. An insert and a delete of the same row cancel each other. The remaining
   * changes of a row have the ordinal of the first of them.
   */
  private def netOfAll(changes: Seq[Change]): Seq[Change] =
    changes.groupBy(c => text(c.row)).values.toSeq.flatMap { group =>
      group.sortBy(c => (c.ordinal, c.kind)).foldLeft(Vector.empty[Change]) { (pending, c) =>
        if (pending.headOption.exists(_.kind != c.kind)) pending.init else pending :+ pending.headOption.getOrElse(c)
      }
    }

  private def withUpdates(changes: Seq[Change], key: Row => Any): Seq[Change] =
    netPerCommit(changes).groupBy(c => (text(key(c.row)), c.ordinal)).values.toSeq.flatMap { group =>
      if (group.map(_.kind).distinct.size < 2) group
      else group.map(c => c.copy(kind = if (c.kind == "DELETE") "UPDATE_BEFORE" else "UPDATE_AFTER"))
    }

  private def changes(random: Random): Seq[Change] = {
    val distinctRows = Seq.fill(8)(row(random, oneOf[Any](random, 1, null)))
    Seq.fill(100 + random.nextInt(60)) {
      Change(reordered(random, oneOf(random, distinctRows: _*)), oneOf(random, "INSERT", "DELETE"), random.nextInt(4))
    }
  }

  private def reordered(random: Random, row: Row): Row = row.get(2) match {
    case m: Map[_, _] if random.nextBoolean() => Row.fromSeq(row.toSeq.updated(2, ListMap(m.toSeq.reverse: _*)))
    case _ => row
  }

  private def seeds: Seq[Long] = (0 until Fuzz.rounds(2)).map(Fuzz.seed + 300 + _)

  test("the view per commit contains the net inserts or net deletes of every row in each commit", Slow) {
    seeds.foreach { seed =>
      val allChanges = changes(new Random(seed))
      assert(asText(allChanges, ChangelogView.PerCommit) == expected(netPerCommit(allChanges)), s"seed $seed")
    }
  }

  test(
    "the view of net changes has the net inserts or deletes of every row, with the commit of its first remaining change"
  ) {
    seeds.foreach { seed =>
      val allChanges = changes(new Random(seed))
      assert(asText(allChanges, ChangelogView.NetChanges) == expected(netOfAll(allChanges)), s"seed $seed")
    }
  }

  private val id = ChangelogView.Identifier("id", Seq(0))

  /** Changes of three identifiers: one row is deleted, one is inserted, and one is updated. */
  private val fixedChanges: Seq[Change] =
    for ((id, kinds) <- Seq(100 -> Seq("DELETE"), 101 -> Seq("INSERT"), 102 -> Seq("DELETE", "INSERT")); kind <- kinds)
      yield Change(Row(id, kinds.indexOf(kind).toDouble, null, null, null), kind, 1)

  /**
   * Generates changes in which each commit deletes and inserts at most one row of an identifier, except rows that are
   * rewritten unchanged. The changes are random, except for [[fixedChanges]].
   */
  private def uniqueChanges(random: Random): Seq[Change] =
    fixedChanges ++ (for (
      ordinal <- 0 until 4; key <- 0 to 8;
      change <- {
        val unchanged = row(random, key)
        def sometimes(kind: String): Seq[Change] =
          Seq(Change(row(random, if (key == 0) null else key), kind, ordinal)).filter(_ => random.nextBoolean())
        def rewrite: Seq[Change] = Seq("DELETE", "INSERT").map(Change(unchanged, _, ordinal)).filter(_ => key % 3 == 1)
        sometimes("DELETE") ++ sometimes("INSERT") ++ rewrite
      }
    ) yield change)

  test("a deleted and an inserted row with the same identifier are an update, even if the identifier is null") {
    seeds.foreach { seed =>
      val allChanges = uniqueChanges(new Random(seed))
      val updates = withUpdates(allChanges, _.get(0))
      assert(updates.map(_.kind).toSet == Set("INSERT", "DELETE", "UPDATE_BEFORE", "UPDATE_AFTER"), s"seed $seed")
      assert(asText(allChanges, ChangelogView.WithUpdates(Seq(id))) == expected(updates), s"seed $seed")
    }
  }

  test("identifiers can be several columns, fractional numbers and fields of structs", Slow) {
    val kinds = Seq("DELETE", "INSERT")
    val identifierValues = Seq[(Any, Any)]((0.0, 1f), (-0.0, 1f), (0.0, Float.NaN), (null, null))
    val allChanges = for ((double, float) <- identifierValues; kind <- kinds)
      yield Change(Row(kinds.indexOf(kind), double, null, Row(float, null, null), null), kind, 0)
    val identifiers = Seq(ChangelogView.Identifier("a.b", Seq(1)), ChangelogView.Identifier("s.f", Seq(3, 0)))
    val updates = allChanges.map(c => c.copy(kind = if (c.kind == "DELETE") "UPDATE_BEFORE" else "UPDATE_AFTER"))
    assert(asText(allChanges, ChangelogView.WithUpdates(identifiers)) == expected(updates))
    // With only the first identifier column, there are two deleted and two inserted rows with 0.0.
    val e = intercept[SparkException](asText(allChanges, ChangelogView.WithUpdates(identifiers.take(1))))
    assert(e.getMessage.contains("several rows with the same identifier (a.b) = {0.0}"), e.getMessage)
  }

  test("rows with the same identifier are rejected only if the updates cannot be paired", Slow) {
    def changesOf(kind: String, bytes: Byte*): Seq[Change] =
      bytes.map(b => Change(Row(1, null, null, null, Array(b)), kind, 2))
    def view(changes: Seq[Change]): Seq[String] = asText(changes, ChangelogView.WithUpdates(Seq(id)))
    Seq(changesOf("DELETE", 1, 2), changesOf("INSERT", 1, 2), changesOf("INSERT", 1, 1))
      .foreach(changes => assert(view(changes) == expected(changes)))
    val rewritten = changesOf("DELETE", 1, 2) ++ changesOf("INSERT", 1, 2)
    assert(view(rewritten) == Nil)
    for ((deleted, inserted) <- Seq(Seq(1) -> Seq(2, 3), Seq(2, 3) -> Seq(1), Seq(1) -> Seq(2, 2))) {
      val changes = changesOf("DELETE", deleted.map(_.toByte): _*) ++ changesOf("INSERT", inserted.map(_.toByte): _*)
      val e = intercept[SparkException](view(changes)).getMessage
      assert(e.contains("Snapshot 102 changed several rows with the same identifier (id) = {1}"), e)
      assert(e.contains("set compute_updates to false"), e)
    }
  }

  test("a filter on a view returns the same rows as a filter on the complete result", Slow) {
    val allChanges = uniqueChanges(new Random(Fuzz.seed + 1))
    val conditions = Seq("_commit_snapshot_id = 101", "_change_type LIKE 'U%'", "id > 3 AND `a.b` = 0")
    for (view <- Seq(ChangelogView.PerCommit, ChangelogView.NetChanges, ChangelogView.WithUpdates(Seq(id)))) {
      val result = ChangelogView.of(frame(allChanges), view)
      val conditionColumns = conditions.map(c => expr(s"coalesce($c, false)"))
      val rows = result.select(conditionColumns ++ result.columns.map(n => col(s"`$n`")): _*).collect()
      conditions.zipWithIndex.foreach { case (condition, i) =>
        val expected =
          rows.filter(_.getBoolean(i)).map(r => text(Row.fromSeq(r.toSeq.drop(conditions.size)))).sorted
        assert(result.where(condition).collect().map(r => text(r)).sorted.toSeq == expected.toSeq, s"$view $condition")
      }
    }
  }

  test("an UPDATE_BEFORE row is followed by its UPDATE_AFTER row") {
    val allChanges = uniqueChanges(new Random(Fuzz.seed))
    val rows = ChangelogView.of(frame(allChanges), ChangelogView.WithUpdates(Seq(id))).collect()
    val updatesBefore = rows.indices.filter(rows(_).getString(5) == "UPDATE_BEFORE")
    assert(updatesBefore.nonEmpty && updatesBefore.forall(i => rows(i + 1).getString(5) == "UPDATE_AFTER"))
    assert(updatesBefore.forall(i => rows(i).get(0) == rows(i + 1).get(0)))
  }

  test("if a commit inserted a row many times, the views contain a row for each net insert", Slow) {
    val insert = Change(Row(1, 0.0, Map("a" -> 1.0), null, null), "INSERT", 0)
    val many = Collections.nCopies(1000, insert).asScala :+ insert.copy(kind = "DELETE")
    assert(asText(many, ChangelogView.PerCommit) == expected(many.take(999)))
    assert(asText(many, ChangelogView.NetChanges) == expected(many.take(999)))
  }
}
