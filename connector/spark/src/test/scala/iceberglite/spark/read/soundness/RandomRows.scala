package iceberglite.spark.read.soundness

import java.nio.ByteBuffer

import scala.util.Random

import iceberglite.data.Record
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/**
 * Generates adjacent rows of a file. Each column has a random share of nulls, and otherwise a few neighbouring values
 * from the [[SampleValues]].
 *
 * @param nextId supplies the column `id`
 */
final private[soundness] class RandomRows(schema: Schema, random: Random, nextId: () => Int) {
  private val neighbours = schema.byId.values.collect { case f @ NestedField(_, _, p: PrimitiveType, _, _, _, _) =>
    val pool = SampleValues.of(p)
    val from = random.nextInt(pool.size)
    f.id -> pool.slice(from, from + 1 + random.nextInt(4))
  }.toMap
  private val nullTenths = schema.byId.keys.map(_ -> oneOf(Seq(0, 0, 2, 2, 10))).toMap

  def make(count: Int): Vector[Record] = Vector.fill(count)(record(schema.asStruct))

  private def oneOf[A](items: Seq[A]): A = items(random.nextInt(items.size))

  private def record(struct: StructType): Record = new Record(struct.fields.map { f =>
    if (f.name == "id") Int.box(nextId()) else orNull(f)
  }.toArray)

  private def orNull(field: NestedField): AnyRef =
    if (!field.required && random.nextInt(10) < nullTenths(field.id)) null else value(field.id, field.fieldType)

  private def value(id: Int, t: Type): AnyRef = t match {
    case struct: StructType => record(struct)
    case list: ListType => Vector.fill(random.nextInt(4))(orNull(list.elementField))
    case map: MapType =>
      val keys = Vector.fill(random.nextInt(3))(value(map.keyId, map.key)).distinct
      keys.map(_ -> orNull(map.valueField))
    case _ => recordValue(oneOf(neighbours(id)))
  }

  private def recordValue(value: Literal): AnyRef = Literal.javaValue(value) match {
    case bytes: ByteBuffer => bytes.duplicate()
    case other => other
  }
}
