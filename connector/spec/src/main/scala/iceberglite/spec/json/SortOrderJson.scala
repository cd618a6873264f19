package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.partition.{NullOrder, SortDirection, SortField, SortOrder}

/** The JSON form of a sort order (spec: "Appendix C - Sort Orders"). */
object SortOrderJson extends JsonFormat[SortOrder] {
  private val OrderId = "order-id"
  private val Fields = "fields"
  private val Direction = "direction"
  private val Nulls = "null-order"

  override def read(json: JsonValue): SortOrder = SortOrder(json(OrderId).int, json(Fields).elements.map(field))

  override def write(order: SortOrder, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(OrderId, order.orderId)
    JsonFormat.writeArray(out, Fields, order.fields) { f =>
      out.writeStartObject()
      SourceJson.writeTransform(f.transform, out)
      SourceJson.writeIds(f.sourceIds, out)
      out.writeStringField(Direction, f.direction.name)
      out.writeStringField(Nulls, f.nullOrder.name)
      out.writeEndObject()
    }
    out.writeEndObject()
  }

  private def field(json: JsonValue): SortField = SortField(
    SourceJson.ids(json),
    SourceJson.transform(json),
    oneOf(json(Direction), SortDirection.all)(_.name),
    oneOf(json(Nulls), NullOrder.all)(_.name)
  )

  private def oneOf[A](json: JsonValue, values: Seq[A])(name: A => String): A =
    values.find(name(_).equalsIgnoreCase(json.string))
      .getOrElse(json.fail(s"Must be one of ${values.map(name).mkString(", ")}, found ${json.string}"))
}
