package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.IcebergError
import iceberglite.spec.partition.{Transform, Transforms}

/**
 * The common part of the JSON forms of partition fields, sort fields and table expressions (version 4), which consists
 * of the source columns and the transform.
 */
private[json] object SourceJson {
  private val SourceId = "source-id"
  private val SourceIds = "source-ids"
  private val TransformName = "transform"

  /** Reads the ids of the source columns, from `source-ids` or `source-id`. */
  def ids(field: JsonValue): Vector[Int] = field.optional(SourceIds) match {
    case Some(list) =>
      val ids = list.elements.map(_.int)
      if (ids.isEmpty) list.fail("A transform needs a source column")
      ids
    case None => Vector(field(SourceId).int)
  }

  /** Writes the ids in the form of version 3: `source-id` for one source column, `source-ids` for several. */
  def writeIds(ids: Vector[Int], out: JsonGenerator): Unit =
    if (ids.size == 1) out.writeNumberField(SourceId, ids.head)
    else JsonFormat.writeArray(out, SourceIds, ids)(id => out.writeNumber(id))

  def transform(field: JsonValue): Transform = {
    val name = field(TransformName)
    try Transforms.parse(name.string)
    catch { case e: IcebergError.InvalidArgument => name.fail(e.getMessage) }
  }

  def writeTransform(transform: Transform, out: JsonGenerator): Unit =
    out.writeStringField(TransformName, transform.name)
}
