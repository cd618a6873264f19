package iceberglite.spark.read.parquet

import org.apache.parquet.io.api.{Converter, GroupConverter, RecordMaterializer}
import org.apache.parquet.schema.Type.Repetition.REPEATED
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{ArrayType, MapType, StructType}

import iceberglite.parquet.ParquetShapes._

/**
 * Appends the records of a file to vectors in the layout of Spark's vectorized reader. No record objects are created;
 * the number of records since the last [[reset]] is returned to Parquet as the current record.
 *
 * @param vectors the vectors of the fields of `requested`
 */
final private[parquet] class RecordVectors(requested: MessageType, vectors: Array[WritableColumnVector])
    extends RecordMaterializer[Int] {
  private val fields = new NodeFields(childrenOf(requested).zip(vectors).map { case (f, v) => NodeVector.of(f, v) })
  private var count = 0

  private val root = new GroupConverter {
    override def getConverter(field: Int): Converter = fields.converter(field)
    override def start(): Unit = fields.begin()
    override def end(): Unit = {
      count += 1
      fields.complete(count)
    }
  }

  /** Sets the number of records to 0. The caller has emptied the vectors. */
  def reset(): Unit = count = 0

  override def getCurrentRecord: Int = count
  override def getRootConverter: GroupConverter = root
}

/**
 * A node of the file's schema, and the vector to which its values are appended. The enclosing node is the group that
 * contains this node. Each value of the enclosing node is an entry: for example, one struct, or one record of the file.
 *
 * @param converter receives the values
 */
sealed private class NodeVector(val vector: WritableColumnVector, val converter: Converter) {

  /** Prepares for the next entry of the enclosing node. Called before each entry. */
  def begin(): Unit = ()

  /**
   * Appends a null if the last entry of the enclosing node has no value for this node. Called after each entry.
   *
   * @param entries the number of entries of the enclosing node so far
   */
  def complete(entries: Int): Unit = if (vector.getElementsAppended < entries) {
    if (vector.dataType.isInstanceOf[StructType]) vector.appendStruct(true) else vector.appendNull()
    ()
  }
}

/** A repeated field that is not part of a list. All its values in one entry of the enclosing node form one array. */
final private class RepeatedVector(vector: WritableColumnVector, element: NodeVector)
    extends NodeVector(vector, element.converter) {
  private var first = 0

  override def begin(): Unit = first = element.vector.getElementsAppended

  override def complete(entries: Int): Unit =
    vector.putArray(vector.appendNotNull(), first, element.vector.getElementsAppended - first)
}

private object NodeVector {
  def of(file: ParquetType, vector: WritableColumnVector): NodeVector = vector.dataType match {
    case _: ArrayType if file.isRepetition(REPEATED) => new RepeatedVector(vector, single(file, vector.getChild(0)))
    case _ => single(file, vector)
  }

  /** Creates a node for single values of a field, even if the field is repeated. */
  private def single(file: ParquetType, vector: WritableColumnVector): NodeVector = (file, vector.dataType) match {
    case (primitive: ParquetPrimitive, _) => new NodeVector(vector, LeafConverter.of(primitive, vector))
    case (group: GroupType, _: StructType) =>
      val children = childrenOf(group).zipWithIndex.map { case (child, i) => of(child, vector.getChild(i)) }
      new NodeVector(vector, new StructAppender(vector, new NodeFields(children)))
    case (group: GroupType, t) => (shapeOf(group), t) match {
        case (Some(ListShape(element, true)), _: ArrayType) =>
          val child = single(element, vector.getChild(0))
          new NodeVector(vector, new EntriesAppender(vector, child.vector, child.converter))
        case (Some(shape: ListShape), _: ArrayType) =>
          entries(vector, Vector(single(shape.element, vector.getChild(0))))
        case (Some(MapShape(keyValue)), _: MapType) =>
          entries(vector, Vector(0, 1).map(i => single(keyValue.getType(i), vector.getChild(i))))
        case _ => throw new IllegalStateException(s"$group is not a $t")
      }
  }

  private def entries(vector: WritableColumnVector, parts: Vector[NodeVector]): NodeVector =
    new NodeVector(vector, new EntriesAppender(vector, parts.head.vector, new EntryAppender(new NodeFields(parts))))
}

/** The fields of a group. An entry is one value of the group. */
final private class NodeFields(nodes: Vector[NodeVector]) {
  private val nodeArray = nodes.toArray
  private val repeated = nodeArray.collect { case r: RepeatedVector => r }

  def converter(field: Int): Converter = nodeArray(field).converter

  def begin(): Unit = repeated.foreach(_.begin())

  def complete(entries: Int): Unit = {
    var i = 0
    while (i < nodeArray.length) {
      nodeArray(i).complete(entries)
      i += 1
    }
  }

  /**
   * Returns the number of entries so far, which is the number of values of the first field. Between two entries, all
   * fields have the same number of values.
   */
  def entries: Int = nodeArray(0).vector.getElementsAppended
}

/** Appends a struct. */
final private class StructAppender(vector: WritableColumnVector, fields: NodeFields) extends GroupConverter {
  override def getConverter(field: Int): Converter = fields.converter(field)

  override def start(): Unit = {
    vector.appendStruct(false)
    fields.begin()
  }

  override def end(): Unit = fields.complete(vector.getElementsAppended)
}

/**
 * Appends the group that contains the repeated field of a list or map.
 *
 * @param entryValues a vector with one value for each entry
 */
final private class EntriesAppender(vector: WritableColumnVector, entryValues: WritableColumnVector, entry: Converter)
    extends GroupConverter {
  private var begin = 0

  override def getConverter(field: Int): Converter = entry
  override def start(): Unit = begin = entryValues.getElementsAppended
  override def end(): Unit = vector.putArray(vector.appendNotNull(), begin, entryValues.getElementsAppended - begin)
}

/** Appends the repeated group of a three-level list, or of a map. */
final private class EntryAppender(parts: NodeFields) extends GroupConverter {
  private var entriesBefore = 0

  override def getConverter(field: Int): Converter = parts.converter(field)
  override def start(): Unit = entriesBefore = parts.entries
  override def end(): Unit = parts.complete(entriesBefore + 1)
}
