package iceberglite.spark.read.files

import scala.util.Random

import org.scalatest.tagobjects.Slow

import iceberglite.data.{Record, RecordGenerators, RecordValues}
import iceberglite.data.orc.OrcData
import iceberglite.scan.ReadColumns
import iceberglite.spark.read.formats.BatchFormat
import iceberglite.spark.read.orc.OrcBatches
import iceberglite.spec.expr.{Bind, Evaluate, Expression, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

class OrcBatchesSuite extends FileBatchTests(OrcData) {
  override protected def reader: BatchFormat = OrcBatches

  override protected def storedValue(value: AnyRef, t: Type): AnyRef = RecordGenerators.withoutLastSecond(value, t)

  override protected def manyParts: Map[String, String] =
    Map("write.orc.stripe-size-bytes" -> "65536", "write.orc.compression-codec" -> "none")

  private val types = RecordGenerators.all.filter {
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => false
    case _ => true
  }
  private val inner = StructType(Vector(optional(101, "x", LongType), optional(102, "y", StringType)))
  private val schema =
    Schema(0, RecordGenerators.flat(types).fields ++ Vector(optional(100, "s", inner), required(103, "id", LongType)))
  private val groupSize = 10000

  /** The records of each row group, repeated in turn. */
  private lazy val pools: Vector[Vector[Record]] = {
    val random = new Random(23)
    Vector.tabulate(5) { group =>
      some(schema, 3, random).map(r => new Record(r.values.updated(schema.fields.size - 1, Long.box(group.toLong))))
    }
  }

  private def recordAt(place: Int): Record = {
    val pool = pools(place / groupSize)
    pool(place % pool.size)
  }

  private def file(properties: (String, String)*): OneFile =
    new OneFile(schema, (0 until groupSize * pools.size - 1234).map(recordAt), properties.toMap)

  private def predicates(field: NestedField, values: Vector[Literal]): Vector[Expression] = {
    val column = Term.Named(schema.names(field.id))
    val ofValues = values.flatMap { v =>
      Vector(Equal(column, v), LessThan(column, v), GreaterThanOrEqual(column, v), NotEqual(column, v))
    }
    val prefixes = values.collect { case Literal.StringLiteral(text) => StartsWith(column, text.take(2)) }
    ofValues ++ prefixes ++ Vector(IsNull(column), NotNull(column), In(column, values.toSet))
  }

  test("row groups without a matching row can be skipped, and no matching row is skipped", Slow) {
    val tables = Seq(file(), file("write.orc.stripe-size-bytes" -> "200000", "write.orc.compression-codec" -> "none"))
    var skippedGroups = 0
    for (field <- schema.byId.values.toVector.sortBy(_.id) if field.fieldType.isInstanceOf[PrimitiveType]) {
      val place = ReadColumns.ordinalPath(ReadColumns.path(schema, field.id).get, schema.fields)
      val read = valueOf(place, field.fieldType.asInstanceOf[PrimitiveType]) _
      val values = pools.flatten.flatMap(read(_)).distinct.take(2)
      for (predicate <- predicates(field, values); table <- tables) {
        val bound = Bind(predicate, schema, caseSensitive = true)
        val matches = Evaluate.rows[Record](bound, _ => read)
        val wanted = Vector(schema.fields(place.head), MetadataColumns.Position)
        val found = table.batches(table.task(filter = bound), wanted)
        val places = found.map(_.getLong(1).toInt)
        val counted = places.groupBy(_ / groupSize)
        pools.indices.foreach { group =>
          if (pools(group).exists(matches)) {
            val all = math.min(groupSize, groupSize * pools.size - 1234 - group * groupSize)
            assert(counted.get(group).map(_.size).contains(all), s"$predicate, group $group")
          } else if (!counted.contains(group)) skippedGroups += 1
        }
        val expected = table.all(wanted)
        assert(found.forall(row => row == expected(row.getLong(1).toInt)), predicate)
      }
    }
    assert(skippedGroups > 150, "too few row groups were skipped")
  }

  test("damage in files with skipped row groups is an error with the path, or has no effect") {
    val few = Schema(0, Vector(optional(1, "a", LongType), optional(2, "s", StringType)))
    // The second row group has no matching row.
    val rows = Vector.tabulate(25000)(i => Record.of(if (i / groupSize == 1) null else i.toLong, s"text ${i % 100}"))
    val file = new OneFile(few, rows, Map("write.orc.compression-codec" -> "none"))
    val filter = Bind(NotNull(Term.Named("a")), few, caseSensitive = true)
    val places = file.batches(file.task(filter = filter), few.fields :+ MetadataColumns.Position).map(_.getLong(2))
    assert(places == (0L until 10000L).toVector ++ (20000L until 25000L))
    damaged(few, Vector(file.content), rounds = 60)
  }

  private def valueOf(place: Vector[Int], t: PrimitiveType)(record: Record): Option[Literal] = {
    val value = place.foldLeft[AnyRef](record) {
      case (struct: Record, ordinal) => struct(ordinal)
      case (other, _) => other
    }
    if (value.isInstanceOf[Record]) None else RecordValues.literal(value, t)
  }
}
