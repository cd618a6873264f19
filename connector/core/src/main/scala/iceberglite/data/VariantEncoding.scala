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

  /** Returns the names of the fields of a variant. @throws InvalidArgument if they are larger than [[MaxSize]] */
  def namesOf(node: VariantNode): Names = {
    // Java's collections are fast even if the hash codes of all names are equal.
    val ids = new HashMap[String, Integer]
    collectNames(node, ids)
    val sorted = ids.keySet.asScala.toArray.map(_.getBytes(UTF_8))
    Arrays.sort(sorted, byBytes)
    val metadata = metadataOf(sorted)
    sorted.indices.foreach(i => ids.put(new String(sorted(i), UTF_8), i))
    new Names(ids, metadata)
  }

  /** The dictionary of the names of a variant. @param metadata the encoded dictionary */
  final class Names private[VariantEncoding] (ids: HashMap[String, Integer], val metadata: ByteBuffer) {

    /** Encodes a part of the variant. @throws InvalidArgument if it is larger than [[MaxSize]] */
    def encode(part: VariantNode): ByteBuffer = {
      val layout = checkedLayout(part)
      val value = ByteBuffer.allocate(layout.size.toInt).order(ByteOrder.LITTLE_ENDIAN)
      layout.put(value)
      value.flip()
      value
    }

    /** Checks the size of a part. @throws InvalidArgument if it is larger than [[MaxSize]] when it is encoded */
    def check(part: VariantNode): Unit = {
      checkedLayout(part)
      ()
    }

    private def checkedLayout(part: VariantNode): Layout = {
      val layout = layoutOf(part, ids)
      requireSize("value", layout.size)
      layout
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

  private def metadataOf(names: Array[Array[Byte]]): ByteBuffer = {
    val content = names.iterator.map(_.length.toLong).sum
    val width = widthOf(math.max(content, names.length.toLong))
    val size = 1 + width * (names.length + 2L) + content
    requireSize("names of fields", size)
    val metadata = ByteBuffer.allocate(size.toInt).order(ByteOrder.LITTLE_ENDIAN)
    metadata.put((Version | IsSorted | (width - 1) << 6).toByte)
    putUnsigned(metadata, names.length.toLong, width)
    names.iterator.scanLeft(0L)(_ + _.length).foreach(putUnsigned(metadata, _, width))
    names.foreach(metadata.put)
    metadata.flip()
    metadata
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
    private val isLarge = values.length > MaxSmallCount
    private val countWidth = if (isLarge) 4 else 1

    override val size: Long = 1 + countWidth + values.length.toLong * idWidth.getOrElse(0) +
      (values.length + 1L) * offsetWidth + content

    private def header: Int = {
      val large = if (isLarge) 1 else 0
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
