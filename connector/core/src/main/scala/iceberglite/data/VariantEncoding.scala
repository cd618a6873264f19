package iceberglite.data

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, Comparator, HashMap}

import scala.collection.JavaConverters._

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Encodes variants (Parquet specification: "Variant Binary Encoding", version 1). The dictionary of field names is
 * sorted and contains each name once. Sizes, offsets and indexes have the smallest possible width.
 */
private[iceberglite] object VariantEncoding {

  /**
   * The maximum size of the metadata and of the value of a variant, in bytes. Spark 4.0 and other engines reject larger
   * variants.
   */
  val MaxSize: Int = 16 << 20

  /** Encodes a variant. @throws InvalidArgument if it is larger than [[MaxSize]] */
  def encode(node: VariantNode): Variant = {
    val names = namesOf(node)
    Variant(names.metadata, names.encode(node))
  }

  /** Encodes a variant; absent if it is larger than [[MaxSize]]. */
  def encodeIfFits(node: VariantNode): Option[Variant] = {
    val names = allNamesOf(node)
    if (names.metadataSize > MaxSize || names.sizeOf(node) > MaxSize) None
    else Some(Variant(names.metadata, names.encode(node)))
  }

  /** Returns the names of the fields of a variant. @throws InvalidArgument if they are larger than [[MaxSize]] */
  def namesOf(node: VariantNode): Names = {
    val names = allNamesOf(node)
    requireSize("names of fields", names.metadataSize)
    names
  }

  private def allNamesOf(node: VariantNode): Names = {
    // Java's collections are fast even if the hash codes of all names are equal.
    val ids = new HashMap[String, Integer]
    collectNames(node, ids)
    val sorted = ids.keySet.asScala.toArray.map(_.getBytes(UTF_8))
    Arrays.sort(sorted, byBytes)
    sorted.indices.foreach(i => ids.put(new String(sorted(i), UTF_8), i))
    new Names(ids, sorted)
  }

  /**
   * The dictionary of the names of a variant.
   *
   * @param ids the indexes of the names in the dictionary
   * @param sorted the names in the order of the dictionary
   */
  final class Names private[VariantEncoding] (ids: HashMap[String, Integer], sorted: Array[Array[Byte]]) {
    private val content = sorted.iterator.map(_.length.toLong).sum
    private val width = widthOf(math.max(content, sorted.length.toLong))

    private[VariantEncoding] val metadataSize: Long = 1 + width * (sorted.length + 2L) + content

    /** Returns the encoded dictionary. */
    def metadata: ByteBuffer = {
      val metadata = ByteBuffer.allocate(metadataSize.toInt).order(ByteOrder.LITTLE_ENDIAN)
      metadata.put((Version | IsSorted | (width - 1) << 6).toByte)
      putUnsigned(metadata, sorted.length.toLong, width)
      sorted.iterator.scanLeft(0L)(_ + _.length).foreach(putUnsigned(metadata, _, width))
      sorted.foreach(metadata.put)
      metadata.flip()
      metadata
    }

    /** Encodes a part of the variant. @throws InvalidArgument if it is larger than [[MaxSize]] */
    def encode(part: VariantNode): ByteBuffer = {
      val layout = layoutOf(part, ids)
      requireSize("value", layout.size)
      val value = ByteBuffer.allocate(layout.size.toInt).order(ByteOrder.LITTLE_ENDIAN)
      layout.put(value)
      value.flip()
      value
    }

    /** Checks the size of a part. @throws InvalidArgument if it is larger than [[MaxSize]] when it is encoded */
    def check(part: VariantNode): Unit = requireSize("value", sizeOf(part))

    /** Returns the size of a part when it is encoded, in bytes. */
    private[VariantEncoding] def sizeOf(part: VariantNode): Long = part match {
      case VariantNode.Scalar(encoded) => encoded.length.toLong
      case VariantNode.Elements(elements) =>
        val content = elements.foldLeft(0L)((size, element) => size + sizeOf(element))
        sizeOfContainer(elements.size, idWidth = 0, content)
      case VariantNode.Fields(fields) =>
        val content = fields.foldLeft(0L)((size, field) => size + sizeOf(field._2))
        val maxId = fields.foldLeft(0)((max, field) => math.max(max, ids.get(field._1).intValue))
        sizeOfContainer(fields.size, widthOf(maxId.toLong), content)
    }
  }

  private val ObjectKind = VariantValues.Object
  private val ArrayKind = 3
  private val Version = 1
  private val IsSorted = 1 << 4
  private val MaxSmallCount = 255

  /** Compares names by their UTF-8 bytes, as the specification requires. */
  private val byBytes: Comparator[Array[Byte]] = (a, b) => Arrays.compareUnsigned(a, b)

  private def collectNames(node: VariantNode, names: HashMap[String, Integer]): Unit = node match {
    case VariantNode.Scalar(_) =>
    case VariantNode.Elements(elements) => elements.foreach(collectNames(_, names))
    case VariantNode.Fields(fields) => fields.foreach { case (name, value) =>
        names.put(name, 0)
        collectNames(value, names)
      }
  }

  private def requireSize(part: String, size: Long): Unit = if (size > MaxSize) {
    throw InvalidArgument("variant", s"$size bytes", s"Its $part must have at most $MaxSize bytes")
  }

  /** A part of a variant whose encoded size is known. */
  sealed private trait Layout {
    def size: Long
    def put(to: ByteBuffer): Unit
  }

  final private class ScalarLayout(encoded: Array[Byte]) extends Layout {
    override val size: Long = encoded.length.toLong
    override def put(to: ByteBuffer): Unit = {
      to.put(encoded)
      ()
    }
  }

  /**
   * An object or array.
   *
   * @param ids for an object, the indexes of the field names in the dictionary, in the order of the values
   */
  final private class ContainerLayout(ids: Option[Array[Int]], values: Array[Layout]) extends Layout {
    private val content = values.iterator.map(_.size).sum
    private val offsetWidth = widthOf(content)
    private val idWidth = ids.map(i => widthOf(if (i.isEmpty) 0L else i.max.toLong))
    private val countWidth = countWidthOf(values.length)

    override val size: Long = sizeOfContainer(values.length, idWidth.getOrElse(0), content)

    private def header: Int = {
      val large = if (countWidth == 1) 0 else 1
      idWidth match {
        case Some(width) => (large << 4 | (width - 1) << 2 | (offsetWidth - 1)) << 2 | ObjectKind
        case None => (large << 2 | (offsetWidth - 1)) << 2 | ArrayKind
      }
    }

    override def put(to: ByteBuffer): Unit = {
      to.put(header.toByte)
      putUnsigned(to, values.length.toLong, countWidth)
      for (width <- idWidth; all <- ids; id <- all) putUnsigned(to, id.toLong, width)
      values.iterator.scanLeft(0L)(_ + _.size).foreach(putUnsigned(to, _, offsetWidth))
      values.foreach(_.put(to))
    }
  }

  private def layoutOf(node: VariantNode, ids: HashMap[String, Integer]): Layout = node match {
    case VariantNode.Scalar(encoded) => new ScalarLayout(encoded)
    case VariantNode.Elements(elements) => new ContainerLayout(None, elements.map(layoutOf(_, ids)).toArray)
    case VariantNode.Fields(fields) =>
      // The dictionary is sorted, so the order of the indexes is the order of the names.
      val sorted = fields.map { case (name, value) => ids.get(name).intValue -> value }.sortBy(_._1)
      new ContainerLayout(Some(sorted.map(_._1).toArray), sorted.map(f => layoutOf(f._2, ids)).toArray)
  }

  private def countWidthOf(count: Int): Int = if (count > MaxSmallCount) 4 else 1

  /**
   * Returns the size of an object or array, in bytes.
   *
   * @param count the number of values
   * @param idWidth the number of bytes of an index of a name; 0 for an array
   * @param content the size of the values
   */
  private def sizeOfContainer(count: Int, idWidth: Int, content: Long): Long =
    1 + countWidthOf(count) + count.toLong * idWidth + (count + 1L) * widthOf(content) + content

  /** Returns the smallest number of bytes that can contain an unsigned number; 4 for larger numbers. */
  private def widthOf(value: Long): Int =
    if (value <= 0xff) 1 else if (value <= 0xffff) 2 else if (value <= 0xffffff) 3 else 4

  private def putUnsigned(to: ByteBuffer, value: Long, width: Int): Unit = {
    var i = 0
    while (i < width) {
      to.put((value >>> (8 * i)).toByte)
      i += 1
    }
  }
}
