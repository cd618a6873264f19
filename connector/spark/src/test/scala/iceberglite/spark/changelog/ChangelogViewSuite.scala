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

import iceberglite.Fuzz
import iceberglite.spark.SharedSession

/** The changelog views, compared with a model that processes the changes one by one. */
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

  private def one[A](random: Random, of: A*): A = of(random.nextInt(of.size))

  /** Returns maps, some of which are equal but have their entries in another order. */
  private def tags(random: Random): Map[String, Any] = one(
    random,
    null,
    Map.empty[String, Any],
    ListMap("a" -> 0.0, "b" -> null),
    ListMap("b" -> null, "a" -> 0.0),
    Map("a" -> -0.0, "b" -> null)
  )

  private def row(random: Random, id: Any): Row = Row(
    id,
    one[Any](random, 0.0, -0.0, Double.NaN, null),
    if (random.nextBoolean()) null else tags(random),
    one(random, null, Row(0f, null, null), Row(-0f, Seq(tags(random)), null), Row(null, Seq(null), null)),
    one(random, null, Array[Byte](1), Array[Byte](1, 2))
  )

  private def frame(changes: Seq[Change]): DataFrame = {
    val rows = changes.map(c => Row.fromSeq(c.row.toSeq ++ Seq(c.kind, c.ordinal, 100L + c.ordinal)))
    spark.createDataFrame(rows.asJava, changelog)
  }

  /** Returns text that is equal for equal values only. */
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
    changes.groupBy(c => (text(c.row), c.ordinal)).values.toSeq.flatMap { same =>
      val (in, out) = same.partition(_.kind == "INSERT")
      in.drop(out.size) ++ out.drop(in.size)
    }

  /** Processes the changes of each row in order; a change and its reversal cancel each other. */
  private def netOfAll(changes: Seq[Change]): Seq[Change] =
    changes.groupBy(c => text(c.row)).values.toSeq.flatMap { same =>
      same.sortBy(c => (c.ordinal, c.kind)).foldLeft(Vector.empty[Change]) { (open, c) =>
        if (open.headOption.exists(_.kind != c.kind)) open.init else open :+ open.headOption.getOrElse(c)
      }
    }

  private def withUpdates(changes: Seq[Change], key: Row => Any): Seq[Change] =
    netPerCommit(changes).groupBy(c => (text(key(c.row)), c.ordinal)).values.toSeq.flatMap { same =>
      if (same.map(_.kind).distinct.size < 2) same
      else same.map(c => c.copy(kind = if (c.kind == "DELETE") "UPDATE_BEFORE" else "UPDATE_AFTER"))
    }

  private def changes(random: Random): Seq[Change] = {
    val few = Seq.fill(8)(row(random, one[Any](random, 1, null)))
    Seq.fill(100 + random.nextInt(60)) {
      Change(reordered(random, one(random, few: _*)), one(random, "INSERT", "DELETE"), random.nextInt(4))
    }
  }

  private def reordered(random: Random, row: Row): Row = row.get(2) match {
    case m: Map[_, _] if random.nextBoolean() => Row.fromSeq(row.toSeq.updated(2, ListMap(m.toSeq.reverse: _*)))
    case _ => row
  }

  private def seeds: Seq[Long] = (0 until Fuzz.rounds(2)).map(Fuzz.seed + 300 + _)

  test("the view of each commit has the net inserts or net deletes of every row") {
    seeds.foreach { seed =>
      val all = changes(new Random(seed))
      assert(asText(all, ChangelogView.PerCommit) == expected(netPerCommit(all)), s"seed $seed")
    }
  }

  test("the view of net changes has the net inserts or deletes of every row, with the commit where they began") {
    seeds.foreach { seed =>
      val all = changes(new Random(seed))
      assert(asText(all, ChangelogView.NetChanges) == expected(netOfAll(all)), s"seed $seed")
    }
  }

  private val id = ChangelogView.Identifier("id", Seq(0))

  /** A change of each kind. */
  private val ofEachKind: Seq[Change] =
    for ((id, kinds) <- Seq(100 -> Seq("DELETE"), 101 -> Seq("INSERT"), 102 -> Seq("DELETE", "INSERT")); kind <- kinds)
      yield Change(Row(id, kinds.indexOf(kind).toDouble, null, null, null), kind, 1)

  /**
   *
   * Generates changes where each commit deletes and inserts at most one row of an identifier, except rows that are
   * rewritten unchanged.
   The changes
   * are random, except for [[ofEachKind]].
   */
  private def unique(random: Random): Seq[Change] =
    ofEachKind ++ (for (
      ordinal <- 0 until 4; key <- 0 to 8;
      change <- {
        val same = row(random, key)
        def some(kind: String): Seq[Change] =
          Seq(Change(row(random, if (key == 0) null else key), kind, ordinal)).filter(_ => random.nextBoolean())
        def again: Seq[Change] = Seq("DELETE", "INSERT").map(Change(same, _, ordinal)).filter(_ => key % 3 == 1)
        some("DELETE") ++ some("INSERT") ++ again
      }
    ) yield change)

  test("a deleted and an inserted row with the same identifier are an update, also if the identifier is null") {
    seeds.foreach { seed =>
      val all = unique(new Random(seed))
      val wanted = withUpdates(all, _.get(0))
      assert(wanted.map(_.kind).toSet == Set("INSERT", "DELETE", "UPDATE_BEFORE", "UPDATE_AFTER"), s"seed $seed")
      assert(asText(all, ChangelogView.WithUpdates(Seq(id))) == expected(wanted), s"seed $seed")
    }
  }

  test("identifiers can be several columns, fractional numbers and fields of structs") {
    val kinds = Seq("DELETE", "INSERT")
    val same = Seq[(Any, Any)]((0.0, 1f), (-0.0, 1f), (0.0, Float.NaN), (null, null))
    val all = for ((double, float) <- same; kind <- kinds)
      yield Change(Row(kinds.indexOf(kind), double, null, Row(float, null, null), null), kind, 0)
    val identifiers = Seq(ChangelogView.Identifier("a.b", Seq(1)), ChangelogView.Identifier("s.f", Seq(3, 0)))
    val updates = all.map(c => c.copy(kind = if (c.kind == "DELETE") "UPDATE_BEFORE" else "UPDATE_AFTER"))
    assert(asText(all, ChangelogView.WithUpdates(identifiers)) == expected(updates))
    // Without the second identifier, both sides have two rows with 0.0.
    val e = intercept[SparkException](asText(all, ChangelogView.WithUpdates(identifiers.take(1))))
    assert(e.getMessage.contains("several rows with the same identifier (a.b) = {0.0}"), e.getMessage)
  }

  test("rows with the same identifier are rejected only if the updates cannot be paired") {
    def of(kind: String, bytes: Byte*): Seq[Change] =
      bytes.map(b => Change(Row(1, null, null, null, Array(b)), kind, 2))
    def view(changes: Seq[Change]): Seq[String] = asText(changes, ChangelogView.WithUpdates(Seq(id)))
    Seq(of("DELETE", 1, 2), of("INSERT", 1, 2), of("INSERT", 1, 1)).foreach(one => assert(view(one) == expected(one)))
    val again = of("DELETE", 1, 2) ++ of("INSERT", 1, 2)
    assert(view(again) == Nil)
    for ((out, in) <- Seq(Seq(1) -> Seq(2, 3), Seq(2, 3) -> Seq(1), Seq(1) -> Seq(2, 2))) {
      val changes = of("DELETE", out.map(_.toByte): _*) ++ of("INSERT", in.map(_.toByte): _*)
      val e = intercept[SparkException](view(changes)).getMessage
      assert(e.contains("Snapshot 102 changed several rows with the same identifier (id) = {1}"), e)
      assert(e.contains("set compute_updates to false"), e)
    }
  }

  test("a filter on a view returns the same rows as a filter on the complete result") {
    val all = unique(new Random(Fuzz.seed + 1))
    val conditions = Seq("_commit_snapshot_id = 101", "_change_type LIKE 'U%'", "id > 3 AND `a.b` = 0")
    for (view <- Seq(ChangelogView.PerCommit, ChangelogView.NetChanges, ChangelogView.WithUpdates(Seq(id)))) {
      val whole = ChangelogView.of(frame(all), view)
      val held = conditions.map(c => expr(s"coalesce($c, false)"))
      val kept = whole.select(held ++ whole.columns.map(n => col(s"`$n`")): _*).collect()
      conditions.zipWithIndex.foreach { case (condition, i) =>
        val expected = kept.filter(_.getBoolean(i)).map(r => text(Row.fromSeq(r.toSeq.drop(conditions.size)))).sorted
        assert(whole.where(condition).collect().map(r => text(r)).sorted.toSeq == expected.toSeq, s"$view $condition")
      }
    }
  }

  test("an UPDATE_BEFORE row is followed by its UPDATE_AFTER row") {
    val all = unique(new Random(Fuzz.seed))
    val kinds = ChangelogView.of(frame(all), ChangelogView.WithUpdates(Seq(id))).collect()
    val before = kinds.indices.filter(kinds(_).getString(5) == "UPDATE_BEFORE")
    assert(before.nonEmpty && before.forall(i => kinds(i + 1).getString(5) == "UPDATE_AFTER"))
    assert(before.forall(i => kinds(i).get(0) == kinds(i + 1).get(0)))
  }

  test("a row that a commit inserted many times is shown as many times") {
    val one = Change(Row(1, 0.0, Map("a" -> 1.0), null, null), "INSERT", 0)
    val many = Collections.nCopies(1000, one).asScala :+ one.copy(kind = "DELETE")
    assert(asText(many, ChangelogView.PerCommit) == expected(many.take(999)))
    assert(asText(many, ChangelogView.NetChanges) == expected(many.take(999)))
  }
}
