package iceberglite.avro

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type._

/** Decodes one field of a record. The encoding is defined by the writer's schema in the file. */
abstract private[iceberglite] class FieldDecoder {

  /** Decodes a value into a slot of the row. */
  def read(in: AvroInput, row: AvroRow, slot: Int): Unit

  /** Moves to the end of a value. */
  def skip(in: AvroInput): Unit
}

private[iceberglite] object FieldDecoder {

  /** Returns a decoder that skips every value. */
  def skipping(schema: AvroSchema): FieldDecoder = new FieldDecoder {
    private val skipValue = skipper(schema)
    override def read(in: AvroInput, row: AvroRow, slot: Int): Unit = skipValue(in)
    override def skip(in: AvroInput): Unit = skipValue(in)
  }

  /**
   * Returns the decoder of a column. If the schema is a union with null, a null value leaves the column absent in the
   * row.
   *
   * @param schema the schema in the file
   * @param decoderFor returns the decoder for the schema without its union
   */
  def optional(schema: AvroSchema)(decoderFor: AvroSchema => FieldDecoder): FieldDecoder =
    if (schema.getType == UNION) {
      val union = AvroUnion.of(schema)
      new OptionalDecoder(union, decoderFor(union.value))
    } else decoderFor(schema)

  final private class OptionalDecoder(union: AvroUnion, decoder: FieldDecoder) extends FieldDecoder {
    override def read(in: AvroInput, row: AvroRow, slot: Int): Unit = if (union.isValue(in)) decoder.read(in, row, slot)

    override def skip(in: AvroInput): Unit = if (union.isValue(in)) decoder.skip(in)
  }

  /** Returns a function that skips any Avro value. The schema must have passed [[AvroSchemaCheck]]. */
  def skipper(schema: AvroSchema): AvroInput => Unit = schema.getType match {
    case NULL => _ => ()
    case BOOLEAN => _.skip(1)
    case INT | LONG | ENUM => _.skipNumbers(1)
    case FLOAT => _.skip(Integer.BYTES)
    case DOUBLE => _.skip(java.lang.Long.BYTES)
    case STRING | BYTES => _.skipBytes()
    case FIXED =>
      val size = schema.getFixedSize
      _.skip(size)
    case ARRAY | MAP => itemsSkipper(schema)
    case UNION =>
      val branches = schema.getTypes.asScala.map(skipper).toArray
      in => {
        branches(AvroUnion.readBranch(in, branches.length))(in)
      }
    case RECORD =>
      val fields = schema.getFields.asScala.map(f => skipper(f.schema)).toArray
      in => fields.foreach(_(in))
  }

  /** Returns a function that skips an array or a map. */
  private def itemsSkipper(schema: AvroSchema): AvroInput => Unit =
    if (schema.getType == MAP) {
      val value = skipper(schema.getValueType)
      in =>
        items(in) {
          in.skipBytes()
          value(in)
        }
    } else {
      val item = skipper(schema.getElementType)
      if (AvroSchemaCheck.isEmpty(schema.getElementType)) _.skipEmptyItems()
      else in => items(in)(item(in))
    }

  /**
   * Runs `item`, which reads or skips one item, for each item of an array or map.
   *
   * @param areEmpty whether every item is encoded in zero bytes
   */
  def items(in: AvroInput, areEmpty: Boolean = false)(item: => Unit): Unit = {
    def nextCount() = if (areEmpty) in.readEmptyItemsCount() else in.readBlockCount()
    var count = nextCount()
    while (count > 0) {
      while (count > 0) {
        item
        count -= 1
      }
      count = nextCount()
    }
  }
}

/** A union of one type with null, or of a single type. Iceberg files have no other unions. */
final private[iceberglite] class AvroUnion(branches: Int, valueBranch: Int, val value: AvroSchema) {

  /** Reads the branch index. Returns whether a value other than null follows. */
  def isValue(in: AvroInput): Boolean = AvroUnion.readBranch(in, branches) == valueBranch
}

private[iceberglite] object AvroUnion {
  def of(union: AvroSchema): AvroUnion = {
    val branches = union.getTypes.asScala.toArray
    val values = branches.indices.filter(branches(_).getType != NULL)
    if (values.size != 1 || branches.length > 2) {
      throw AvroFault(
        s"The Avro schema of the file has the union ${AvroSchemaCheck.describe(union)}, but only a union of one type " +
          "with null is supported"
      )
    }
    new AvroUnion(branches.length, values.head, branches(values.head))
  }

  def readBranch(in: AvroInput, branches: Int): Int = {
    val branch = in.readInt()
    if (branch < 0 || branch >= branches)
      throw AvroFault(s"A value has the branch index $branch, but its union has only $branches branches")
    branch
  }
}

/**
 * Decodes the fields of a record in file order. Fields that match a column are stored in the column's slot; other
 * fields are skipped.
 *
 * @param slots the slot of each field; -1 for a field that is skipped
 */
final private[iceberglite] class RecordDecoder(decoders: Array[FieldDecoder], slots: Array[Int]) {
  def read(in: AvroInput, row: AvroRow): Unit = {
    row.clear()
    var i = 0
    while (i < decoders.length) {
      if (slots(i) >= 0) decoders(i).read(in, row, slots(i)) else decoders(i).skip(in)
      i += 1
    }
  }

  def skip(in: AvroInput): Unit = decoders.foreach(_.skip(in))

  /** Returns whether the file has the column. */
  def hasColumn(column: StructColumn[_, _]): Boolean = slots.contains(column.slot)
}

private[iceberglite] object RecordDecoder {

  /** Returns the decoder for a file with the given writer's schema. */
  def of[A](schemaJson: String, columns: StructColumns[A]): RecordDecoder = {
    // Names are not validated, because other Avro implementations are less strict than the Java implementation.
    val schema = new AvroSchema.Parser().setValidate(false).setValidateDefaults(false).parse(schemaJson)
    AvroSchemaCheck.check(schema)
    of(schema, columns, fileHasNoIds = !schemaJson.contains(FieldIdProperty))
  }

  private val FieldIdProperty = "\"" + AvroSchemas.FieldIdKey + "\""

  /**
   * Returns the decoder that matches the fields of a record to columns by field id. Names are used only if the file
   * contains no field ids at all (spec: "Column Projection").
   */
  def of[A](schema: AvroSchema, columns: StructColumns[A], fileHasNoIds: Boolean): RecordDecoder = {
    if (schema.getType != RECORD) {
      throw AvroFault(s"The struct ${columns.name} has the Avro type ${schema.getType} in the file, not a record type")
    }
    val fields = schema.getFields.asScala.toArray
    val matched: Array[Option[StructColumn[A, _]]] =
      fields.map(f => if (fileHasNoIds) columns.byName.get(f.name) else fieldId(f).flatMap(columns.byId.get))
    val duplicate = matched.flatten.groupBy(_.id).collectFirst { case (_, same) if same.length > 1 => same.head }
    duplicate.foreach(c => throw AvroFault(s"The Avro schema has ${c.name} (field ${c.id}) twice"))
    val missing = columns.requiredColumns.filterNot(c => matched.exists(_.exists(_.id == c.id)))
    if (missing.nonEmpty) {
      throw AvroFault(s"The Avro schema has no ${missing.map(c => s"${c.name} (field ${c.id})").mkString(", ")}")
    }
    val decoders = fields.zip(matched).map {
      case (f, Some(column)) => optional(f, column, fileHasNoIds)
      case (f, None) => FieldDecoder.skipping(f.schema)
    }
    new RecordDecoder(decoders, matched.map(_.fold(-1)(_.slot)))
  }

  private def optional(f: AvroSchema.Field, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder =
    FieldDecoder.optional(f.schema)(schema => column.columnType.decoder(schema, column, fileHasNoIds))

  def fieldId(field: AvroSchema.Field): Option[Int] = intProperty(field.getObjectProp(AvroSchemas.FieldIdKey))

  private def intProperty(value: AnyRef): Option[Int] = Option(value).collect {
    case n: java.lang.Number => n.intValue
    case s: String if s.nonEmpty && s.length < 10 && s.forall(c => c >= '0' && c <= '9') => s.toInt
  }
}
