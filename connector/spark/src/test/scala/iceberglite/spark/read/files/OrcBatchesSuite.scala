package iceberglite.spark.read.files

import scala.util.Random

import org.scalatest.tagobjects.Slow

import iceberglite.data.{Record, RecordGenerators, RecordValues}
import iceberglite.data.orc.OrcData
import iceberglite.data.ReadColumns
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

  override protected def storedValue(value: AnyRef, t: Type): AnyRef =
    RecordGenerators.withoutLastSecondOf1969(value, t)

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

  /** The different records of each row group. The rows of a row group repeat these records cyclically. */
  private lazy val pools: Vector[Vector[Record]] = {
    val random = new Random(23)
    Vector.tabulate(5) { group =>
      randomRecords(schema, 3, random)
        .map(r => new Record(r.values.updated(schema.fields.size - 1, Long.box(group.toLong))))
    }
  }

  private def recordAt(position: Int): Record = {
    val pool = pools(position / groupSize)
    pool(position % pool.size)
  }

  private def file(properties: (String, String)*): TestFile =
    new TestFile(schema, (0 until groupSize * pools.size - 1234).map(recordAt), properties.toMap)

  private def predicates(field: NestedField, values: Vector[Literal]): Vector[Expression] = {
    val column = Term.Named(schema.names(field.id))
    val comparisons = values.flatMap { v =>
      Vector(Equal(column, v), LessThan(column, v), GreaterThanOrEqual(column, v), NotEqual(column, v))
    }
    val prefixes = values.collect { case Literal.StringLiteral(text) => StartsWith(column, text.take(2)) }
    comparisons ++ prefixes ++ Vector(IsNull(column), NotNull(column), In(column, values.toSet))
  }

  test("filters skip row groups, but never a row group with a matching row", Slow) {
    val tables = Seq(file(), file("write.orc.stripe-size-bytes" -> "200000", "write.orc.compression-codec" -> "none"))
    var skippedGroups = 0
    for (field <- schema.byId.values.toVector.sortBy(_.id) if field.fieldType.isInstanceOf[PrimitiveType]) {
      val ordinals = ReadColumns.ordinalPath(ReadColumns.path(schema, field.id).get, schema.fields)
      val value = valueOf(ordinals, field.fieldType.asInstanceOf[PrimitiveType]) _
      val values = pools.flatten.flatMap(value(_)).distinct.take(2)
      for (predicate <- predicates(field, values); table <- tables) {
        val bound = Bind(predicate, schema, caseSensitive = true)
        val matches = Evaluate.rows[Record](bound, _ => value)
        val fields = Vector(schema.fields(ordinals.head), MetadataColumns.Position)
        val rows = table.batches(table.task(filter = bound), fields)
        val positions = rows.map(_.getLong(1).toInt)
        val rowsByGroup = positions.groupBy(_ / groupSize)
        pools.indices.foreach { group =>
          if (pools(group).exists(matches)) {
            val groupRows = math.min(groupSize, groupSize * pools.size - 1234 - group * groupSize)
            assert(rowsByGroup.get(group).map(_.size).contains(groupRows), s"$predicate, group $group")
          } else if (!rowsByGroup.contains(group)) skippedGroups += 1
        }
        val expected = table.cachedExpected(fields)
        assert(rows.forall(row => row == expected(row.getLong(1).toInt)), predicate)
      }
    }
    assert(skippedGroups > 150, "too few row groups were skipped")
  }

  test("reading a damaged file with skipped row groups returns rows or fails with an error that contains the path") {
    val fileSchema = Schema(0, Vector(optional(1, "a", LongType), optional(2, "s", StringType)))
    // The second row group has no matching row.
    val rows = Vector.tabulate(25000)(i => Record.of(if (i / groupSize == 1) null else i.toLong, s"text ${i % 100}"))
    val file = new TestFile(fileSchema, rows, Map("write.orc.compression-codec" -> "none"))
    val filter = Bind(NotNull(Term.Named("a")), fileSchema, caseSensitive = true)
    val fields = fileSchema.fields :+ MetadataColumns.Position
    val positions = file.batches(file.task(filter = filter), fields).map(_.getLong(2))
    assert(positions == (0L until 10000L).toVector ++ (20000L until 25000L))
    checkDamaged(fileSchema, Vector(file.content), rounds = 60)
  }

  private def valueOf(ordinals: Vector[Int], t: PrimitiveType)(record: Record): Option[Literal] = {
    val value = ordinals.foldLeft[AnyRef](record) {
      case (struct: Record, ordinal) => struct(ordinal)
      case (other, _) => other
    }
    if (value.isInstanceOf[Record]) None else RecordValues.literal(value, t)
  }
}
