package iceberglite.data

import java.math.{BigDecimal, BigInteger}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Base64, UUID}

import com.fasterxml.jackson.core.{JsonFactory, StreamReadConstraints}
import com.fasterxml.jackson.core.io.JsonStringEncoder

import iceberglite.spec.types.{DateTime, Literal}
import iceberglite.spec.types.Literal._

/**
 * Converts variants to JSON text (Parquet specification: "Variant Binary Encoding" and its section "Conversion to
 * JSON"). Dates and times are ISO 8601 strings, UUIDs are strings in the usual form, and bytes are Base64. NaN and the
 * infinities are strings, because JSON has no numbers for them. The fields of an object have the order of the variant
 * encoding, i.e. they are sorted by name.
 */
object VariantJson {

  /**
   * Returns the JSON text of a variant.
   *
   * @param metadata the dictionary of field names
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the bytes are not a variant
   */
  def text(metadata: ByteBuffer, value: ByteBuffer): String = {
    val out = new StringBuilder
    new VariantValues(new VariantNames(new VariantBytes(metadata)), new VariantBytes(value)).append(out)
    out.toString
  }

  /**
   * Returns the parts of a variant.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the bytes are not a variant
   */
  private[iceberglite] def node(metadata: ByteBuffer, value: ByteBuffer): VariantNode =
    new VariantValues(new VariantNames(new VariantBytes(metadata)), new VariantBytes(value)).node

  /**
   * Returns the value of a part that is neither an object nor an array; absent for null. Integers of one to four bytes
   * are ints.
   *
   * @param encoded the encoded value, with its header
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the bytes are not such a value
   */
  private[iceberglite] def literal(encoded: Array[Byte]): Option[Literal] =
    new VariantValues(
      new VariantNames(new VariantBytes(noNames.duplicate())),
      new VariantBytes(ByteBuffer.wrap(encoded))
    ).literal

  /** The metadata of a variant without objects. */
  private[iceberglite] val noNames = ByteBuffer.wrap(Array[Byte](1, 0, 0))

  /** Returns the fields of an object, each with the JSON text of its value; absent if the variant is not an object. */
  def fields(metadata: ByteBuffer, value: ByteBuffer): Option[Vector[(String, String)]] =
    new VariantValues(new VariantNames(new VariantBytes(metadata)), new VariantBytes(value)).fields

  /**
   * Returns the JSON text of a primitive value. The value can also be a shredded value, i.e. a value that a writer
   * stored in a typed column outside of the variant encoding.
   */
  def of(value: Literal): String = value match {
    case BooleanLiteral(v) => v.toString
    case IntLiteral(v) => v.toString
    case LongLiteral(v) => v.toString
    case FloatLiteral(v) => number(v.toDouble, v.toString)
    case DoubleLiteral(v) => number(v, v.toString)
    case DecimalLiteral(v) => v.toPlainString
    case DateLiteral(days) => quoted(DateTime.formatDate(days))
    case TimeLiteral(micros) => quoted(DateTime.formatTime(micros))
    case TimestampLiteral(micros) => quoted(DateTime.formatTimestamp(micros))
    case TimestampTzLiteral(micros) => quoted(DateTime.formatTimestampTz(micros))
    case TimestampNsLiteral(nanos) => quoted(DateTime.formatTimestampNs(nanos))
    case TimestampTzNsLiteral(nanos) => quoted(DateTime.formatTimestampTzNs(nanos))
    case StringLiteral(v) => quoted(v)
    case UuidLiteral(v) => quoted(v.toString)
    case FixedLiteral(bytes) => quoted(base64(bytes))
    case BinaryLiteral(bytes) => quoted(base64(bytes))
  }

  /** Returns the JSON text of an object. @param fields the names of the fields, and their values as JSON text */
  def ofFields(fields: Seq[(String, String)]): String =
    fields.map { case (name, value) => s"${quoted(name)}:$value" }.mkString("{", ",", "}")

  def ofElements(elements: Seq[String]): String = elements.mkString("[", ",", "]")

  val Null = "null"

  private[data] def quoted(text: String): String = {
    val out = new java.lang.StringBuilder(text.length + 2).append('"')
    JsonStringEncoder.getInstance().quoteAsString(text, out)
    out.append('"').toString
  }

  /** Returns the string that a JSON string contains. @param json a result of this object */
  private[iceberglite] def unquoted(json: String): String = {
    val parser = jsonFactory.createParser(json)
    try {
      parser.nextToken()
      parser.getText
    } finally parser.close()
  }

  private val jsonFactory = new JsonFactory().setStreamReadConstraints(
    StreamReadConstraints.builder().maxStringLength(Int.MaxValue).build()
  )

  private def number(value: Double, text: String): String =
    if (value.isNaN || value.isInfinite) quoted(text) else text

  private def base64(bytes: ByteBuffer): String = UTF_8.decode(Base64.getEncoder.encode(bytes.duplicate())).toString
}

/** Converts the value of a variant to JSON text. */
final private class VariantValues(names: VariantNames, bytes: VariantBytes) {
  import VariantValues._

  /**
   * The number of bytes of values that were read so far, with at least one byte for each value. It is limited, because
   * the values of a malformed variant may overlap, and the result could then be far larger than the variant.
   */
  private var bytesRead = 0L

  def append(out: StringBuilder): Unit = append(out, 0, 0)

  def fields: Option[Vector[(String, String)]] =
    if ((bytes.byte(0) & 3) != Object) None
    else Some(container(0).children.map { case (name, offset) =>
      val out = new StringBuilder
      append(out, offset, 1)
      name.getOrElse("") -> out.toString
    })

  def node: VariantNode = node(0, 0)

  private def node(offset: Int, depth: Int): VariantNode = {
    val first = begin(offset, depth)
    first & 3 match {
      case ShortString => VariantNode.Scalar(bytes.array(offset, 1 + counted(first >> 2)))
      case Primitive => VariantNode.Scalar(bytes.array(offset, 1 + counted(size(first >> 2, offset + 1))))
      case kind =>
        val children = container(offset).children.map { case (name, child) =>
          name.getOrElse("") -> node(child, depth + 1)
        }
        if (kind == Object) VariantNode.Fields(children) else VariantNode.Elements(children.map(_._2))
    }
  }

  /** Returns the first byte of a value, after checks that prevent an endless or very deep recursion. */
  private def begin(offset: Int, depth: Int): Int = {
    val first = bytes.byte(offset)
    if (depth > MaxDepth) bytes.fail(s"it is nested more than $MaxDepth levels deep")
    counted(1)
    first
  }

  /** Counts bytes that are read. @return their number */
  private def counted(count: Int): Int = {
    bytesRead += count
    if (bytesRead > bytes.size) bytes.fail("its values overlap")
    count
  }

  private def append(out: StringBuilder, offset: Int, depth: Int): Unit = {
    val first = begin(offset, depth)
    val header = first >> 2
    first & 3 match {
      case ShortString => out.append(VariantJson.quoted(bytes.text(offset + 1, counted(header))))
      case Primitive =>
        counted(size(header, offset + 1))
        out.append(primitive(header, offset + 1))
      case kind =>
        val (open, close) = if (kind == Object) ('{', '}') else ('[', ']')
        out.append(open)
        container(offset).children.iterator.zipWithIndex.foreach { case ((name, child), i) =>
          if (i > 0) out.append(',')
          name.foreach(n => out.append(VariantJson.quoted(n)).append(':'))
          append(out, child, depth + 1)
        }
        out.append(close)
    }
    ()
  }

  private def container(offset: Int): Container = {
    val header = bytes.byte(offset) >> 2
    val isObject = (bytes.byte(offset) & 3) == Object
    val isLarge = (header >> (if (isObject) 4 else 2) & 1) == 1
    val idWidth = if (isObject) (header >> 2 & 3) + 1 else 0
    new Container(offset + 1, if (isLarge) 4 else 1, idWidth, (header & 3) + 1)
  }

  /**
   * An object or an array.
   *
   * @param idWidth number of bytes of an index into the dictionary of field names; 0 for an array
   */
  final private class Container(offset: Int, countWidth: Int, idWidth: Int, offsetWidth: Int) {
    private val count = bytes.unsigned(offset, countWidth)
    private val ids = offset + countWidth
    private val offsets = ids + count.toLong * idWidth
    private val data = offsets + (count.toLong + 1) * offsetWidth
    if (data > bytes.size) bytes.fail(s"it claims $count values in ${bytes.size} bytes")

    /**
     * Returns the offsets of the values in the container. For an object, each offset is returned with its field name.
     */
    def children: Vector[(Option[String], Int)] = Vector.tabulate(count) { i =>
      (if (idWidth == 0) None else Some(names(id(i))), position(i))
    }

    /** Returns the offset of the field of an object; absent if it has no such field. */
    def offsetOf(name: Array[Byte]): Option[Int] = {
      var i = 0
      while (i < count && !names.isAt(id(i), name)) i += 1
      if (i < count) Some(position(i)) else None
    }

    private def id(index: Int): Int = bytes.unsigned(ids + index * idWidth, idWidth)

    private def position(index: Int): Int = {
      val position = data + bytes.unsigned(offsets.toInt + index * offsetWidth, offsetWidth)
      if (position >= bytes.size) bytes.fail(s"it refers to byte $position, but has only ${bytes.size} bytes")
      position.toInt
    }
  }

  private lazy val root: Container =
    if ((bytes.byte(0) & 3) == Object) container(0) else bytes.fail("it is not an object")

  /** Returns the offset of the field of an object; absent if it has no such field. @param name the name in UTF-8 */
  def offsetOf(name: Array[Byte]): Option[Int] = root.offsetOf(name)

  def literal: Option[Literal] = literalAt(0)

  def literalAt(offset: Int): Option[Literal] = {
    val first = bytes.byte(offset)
    first & 3 match {
      case ShortString => Some(StringLiteral(bytes.text(offset + 1, first >> 2)))
      case Primitive =>
        size(first >> 2, offset + 1)
        literal(first >> 2, offset + 1)
      case _ => bytes.fail("a part of it is an object or an array, but a single value is expected")
    }
  }

  private def primitive(kind: Int, offset: Int): String =
    literal(kind, offset).fold(VariantJson.Null)(VariantJson.of)

  private def literal(kind: Int, offset: Int): Option[Literal] =
    if (kind == VariantPrimitive.Null) None else Some(presentLiteral(kind, offset))

  private def presentLiteral(kind: Int, offset: Int): Literal = kind match {
    case VariantPrimitive.True => BooleanLiteral(true)
    case VariantPrimitive.False => BooleanLiteral(false)
    case VariantPrimitive.Int8 => IntLiteral(bytes.signed(offset, 1).toInt)
    case VariantPrimitive.Int16 => IntLiteral(bytes.signed(offset, 2).toInt)
    case VariantPrimitive.Int32 => IntLiteral(bytes.signed(offset, 4).toInt)
    case VariantPrimitive.Int64 => LongLiteral(bytes.signed(offset, 8))
    case VariantPrimitive.Double => DoubleLiteral(java.lang.Double.longBitsToDouble(bytes.signed(offset, 8)))
    case VariantPrimitive.Decimal4 => decimal(offset, 4)
    case VariantPrimitive.Decimal8 => decimal(offset, 8)
    case VariantPrimitive.Decimal16 => decimal(offset, 16)
    case VariantPrimitive.Float => FloatLiteral(java.lang.Float.intBitsToFloat(bytes.signed(offset, 4).toInt))
    case VariantPrimitive.Binary => BinaryLiteral(bytes.slice(offset + 4, bytes.unsigned(offset, 4)))
    case VariantPrimitive.String => StringLiteral(bytes.text(offset + 4, bytes.unsigned(offset, 4)))
    case VariantPrimitive.Uuid =>
      val uuid = bytes.slice(offset, 16)
      UuidLiteral(new UUID(uuid.getLong, uuid.getLong))
    case other => time(other, offset)
  }

  /** Returns the number of bytes of a primitive value after its header. */
  private def size(kind: Int, offset: Int): Int = kind match {
    case VariantPrimitive.Null | VariantPrimitive.True | VariantPrimitive.False => 0
    case VariantPrimitive.Int8 => 1
    case VariantPrimitive.Int16 => 2
    case VariantPrimitive.Int32 | VariantPrimitive.Float | VariantPrimitive.Date => 4
    case VariantPrimitive.Decimal4 => 5
    case VariantPrimitive.Decimal8 => 9
    case VariantPrimitive.Decimal16 => 17
    case VariantPrimitive.Uuid => 16
    case VariantPrimitive.Binary | VariantPrimitive.String => 4 + bytes.unsigned(offset, 4)
    case VariantPrimitive.Int64 | VariantPrimitive.Double | VariantPrimitive.Timestamp | VariantPrimitive.TimestampNtz |
        VariantPrimitive.TimeNtz | VariantPrimitive.TimestampNanos | VariantPrimitive.TimestampNtzNanos => 8
    case other => unknown(other)
  }

  private def unknown(kind: Int): Nothing = bytes.fail(s"it contains a value of the unknown type $kind")

  private def time(kind: Int, offset: Int): Literal = kind match {
    case VariantPrimitive.Date => DateLiteral(bytes.signed(offset, 4).toInt)
    case VariantPrimitive.Timestamp => TimestampTzLiteral(bytes.signed(offset, 8))
    case VariantPrimitive.TimestampNtz => TimestampLiteral(bytes.signed(offset, 8))
    case VariantPrimitive.TimeNtz =>
      val micros = bytes.signed(offset, 8)
      if (micros < 0 || micros >= DateTime.MicrosPerDay) bytes.fail(s"$micros is not a time of day in microseconds")
      TimeLiteral(micros)
    case VariantPrimitive.TimestampNanos => TimestampTzNsLiteral(bytes.signed(offset, 8))
    case VariantPrimitive.TimestampNtzNanos => TimestampNsLiteral(bytes.signed(offset, 8))
    case other => unknown(other)
  }

  private def decimal(offset: Int, width: Int): Literal = {
    val unscaled = new Array[Byte](width)
    bytes.slice(offset + 1, width).get(unscaled)
    DecimalLiteral(new BigDecimal(new BigInteger(unscaled.reverse), bytes.byte(offset)))
  }
}

private[data] object VariantValues {
  val Primitive = 0
  val ShortString = 1
  val Object = 2
  val MaxDepth = 500
}
