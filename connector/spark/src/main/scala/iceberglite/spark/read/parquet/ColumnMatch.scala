package iceberglite.spark.read.parquet

import org.apache.parquet.schema.Type.Repetition.REPEATED
import org.apache.parquet.schema.{GroupType, PrimitiveType => ParquetPrimitive, Type => ParquetType}
import org.apache.spark.sql.types.{ArrayType, DataType, MapType => SparkMap, StructField, StructType => SparkStruct}

import iceberglite.parquet.ParquetShapes._
import iceberglite.spark.convert.{SparkTypes, VariantForm}
import iceberglite.spark.read.parquet.ColumnConversion._
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType, VariantType}

/**
 * A node of a file's schema, with the part of the node that is read.
 *
 * @param requested the part of the node to request from Parquet
 * @param dataType the Spark type of the requested part
 * @param conversion the conversion of the values that were read
 * @param columns the primitive columns of the node that a filter may use, by field id
 */
final private[parquet] case class MatchedNode(
    requested: ParquetType,
    dataType: DataType,
    conversion: ColumnConversion,
    columns: Map[Int, FilterColumn] = Map.empty
)

/** The match of a struct: the children to read from the file, and the source of each requested field. */
final private[parquet] case class StructMatch(children: Vector[MatchedNode], sources: Vector[Source])

/**
 * Matches the columns of a table, and their nested fields, to the columns of one file by field id.
 *
 * @param replacement returns the replacement of a field that the file does not have
 * @param mismatch creates the error for a column whose type in the file does not match the table. Its arguments are the
 *   name of the column, the type in the file and the requested type.
 * @param invalidVariant creates the error for an invalid variant, from the name of its column and the reason
 * @param variants the form in which variants are read
 * @param parts selects the fields of the group of a variant to read, from the id of its column and the names that lead
 *   to it in the file
 */
final private[parquet] class ColumnMatch(
    replacement: (NestedField, Vector[String]) => Source,
    mismatch: (String, ParquetType, Type) => Throwable,
    invalidVariant: (String, String) => Throwable,
    variants: VariantForm,
    parts: (Int, Vector[String]) => GroupType => GroupType
) {

  /** Matches the requested fields of a struct. Other fields of the struct are not read. */
  def struct(group: GroupType, expected: Vector[NestedField], path: NodePath): StructMatch = {
    val byId = childrenOf(group).reverse.flatMap(c => idOf(c).map(_ -> c)).toMap
    val start = StructMatch(Vector.empty, Vector.empty)
    expected.foldLeft(start) { (result, field) =>
      byId.get(field.id).filterNot(_ => field.fieldType == Type.UnknownType) match {
        case Some(child) =>
          val part = node(child, field.fieldType, path / (field.name, child.getName), Some(field.id))
          StructMatch(result.children :+ part, result.sources :+ Source.FromFile(result.children.size, part.conversion))
        case None => result.copy(sources = result.sources :+ replacement(field, path.names :+ field.name))
      }
    }
  }

  /** Matches a node. @param id the id of the field; absent if filters cannot use the field */
  private def node(file: ParquetType, expected: Type, path: NodePath, id: Option[Int]): MatchedNode = {
    def mismatchError = mismatch(path.names.mkString("."), file, expected)
    (file, expected) match {
      case _ if file.isRepetition(REPEATED) && !path.isElement => throw mismatchError
      case (group: GroupType, VariantType) =>
        val selected = id.filterNot(_ => path.repeated).fold[GroupType => GroupType](identity)(parts(_, path.inFile))
        VariantConversion.of(group, selected, variants, invalidVariant(path.names.mkString("."), _)).getOrElse(
          throw mismatchError
        )
      case (primitive: ParquetPrimitive, t: PrimitiveType) =>
        val (dataType, conversion) = PrimitiveConversion.of(primitive, t).getOrElse(throw mismatchError)
        val column = id.filterNot(_ => path.repeated).map(_ -> FilterColumn(path.inFile, primitive))
        MatchedNode(file, dataType, conversion, column.toMap)
      case (group: GroupType, t: NestedType) =>
        (shapeOf(group), t) match {
          case (Some(Struct), s: StructType) => structNode(group, s, path)
          case (Some(shape: ListShape), l: ListType) => listNode(group, shape, l, path)
          case (Some(MapShape(keyValue)), m: MapType) => mapNode(group, keyValue, m, path)
          case _ => throw mismatchError
        }
      case _ => throw mismatchError
    }
  }

  private def structNode(group: GroupType, expected: StructType, path: NodePath): MatchedNode = {
    val matched = struct(group, expected.fields, path)
    // At least one child is read, because Spark's reader returns null for every struct without children.
    val children = if (matched.children.isEmpty) Vector(UnrequestedNodes.cheapestChild(group)) else matched.children
    val read = UnrequestedNodes.structOf(children)
    MatchedNode(
      withChildren(group, children.map(_.requested)),
      read,
      if (areInPlace(matched.sources, children.size)) AsIs else StructOf(matched.sources, viewOf(expected)),
      children.flatMap(_.columns).toMap
    )
  }

  /** Whether the children that are read are exactly the requested fields, in the same order and without conversions. */
  private def areInPlace(sources: Vector[Source], read: Int): Boolean =
    sources.size == read && sources.zipWithIndex.forall {
      case (Source.FromFile(ordinal, AsIs), i) => ordinal == i
      case _ => false
    }

  private def viewOf(expected: StructType): SparkStruct = SparkTypes.toSpark(expected.fields)

  private def listNode(group: GroupType, shape: ListShape, expected: ListType, path: NodePath): MatchedNode = {
    val elementPath = path.part("element")
    val element = (shape.element, expected.element) match {
      case (e: GroupType, s: StructType) if shape.twoLevel => wholeStruct(e, s, elementPath)
      case (e, t) => node(e, t, elementPath, None)
    }
    val repeated =
      if (shape.twoLevel) element.requested else withChildren(shape.repeated.asGroupType, Vector(element.requested))
    val read = ArrayType(element.dataType, containsNull = !expected.elementRequired)
    val conversion = if (element.conversion == AsIs) AsIs else ListOf(element.conversion, SparkTypes.toSpark(expected))
    MatchedNode(withChildren(group, Vector(repeated)), read, conversion)
  }

  /**
   * Matches the element struct of a two-level list, and reads all its fields. With fewer fields, the repeated group
   * could not be distinguished from the repeated group of a three-level list.
   */
  private def wholeStruct(group: GroupType, expected: StructType, path: NodePath): MatchedNode = {
    val matched = struct(group, expected.fields, path)
    val names = matched.children.map(_.requested.getName)
    val children = childrenOf(group).map(c =>
      matched.children.find(_.requested.getName == c.getName).getOrElse(UnrequestedNodes.whole(c))
    )
    val sources = matched.sources.map {
      case Source.FromFile(ordinal, conversion) =>
        Source.FromFile(children.indexWhere(_.requested.getName == names(ordinal)), conversion)
      case other => other
    }
    val requested = withChildren(group, children.map(_.requested))
    MatchedNode(requested, UnrequestedNodes.structOf(children), StructOf(sources, viewOf(expected)))
  }

  private def mapNode(group: GroupType, keyValue: GroupType, expected: MapType, path: NodePath): MatchedNode = {
    val key = node(keyValue.getType(0), expected.key, path.part("key"), None)
    val value = node(keyValue.getType(1), expected.value, path.part("value"), None)
    val read = SparkMap(key.dataType, value.dataType, valueContainsNull = !expected.valueRequired)
    val conversion =
      if (key.conversion == AsIs && value.conversion == AsIs) AsIs
      else MapOf(key.conversion, value.conversion, SparkTypes.toSpark(expected))
    MatchedNode(
      withChildren(group, Vector(withChildren(keyValue, Vector(key.requested, value.requested)))),
      read,
      conversion
    )
  }
}

/**
 * The path of a node.
 *
 * @param names the names in the table
 * @param inFile the names in the file, for nodes outside lists and maps
 * @param repeated whether a row may have several values of the node
 * @param isElement whether the node is the element of a list, or a key or value of a map. In two-level lists, the
 *   element is the repeated field itself.
 */
final private[parquet] case class NodePath(
    names: Vector[String],
    inFile: Vector[String],
    repeated: Boolean,
    isElement: Boolean
) {
  def /(name: String, fileName: String): NodePath = copy(names :+ name, inFile :+ fileName, isElement = false)

  /** Returns the path of a part of a list or map. */
  def part(name: String): NodePath = copy(names :+ name, repeated = true, isElement = true)
}

private[parquet] object NodePath {
  val Root: NodePath = NodePath(Vector.empty, Vector.empty, repeated = false, isElement = false)
}

/** Parts of a file that are read although their values are not requested. */
private[parquet] object UnrequestedNodes {

  /** Returns the child of a struct that is cheapest to read. It is read to determine whether the struct is null. */
  def cheapestChild(group: GroupType): MatchedNode = {
    val children = childrenOf(group).filterNot(_.isRepetition(REPEATED))
    def structs = children.collect { case g: GroupType if shapeOf(g).contains(Struct) => g }
    children.find(_.isPrimitive).map(whole)
      .orElse(structs.headOption.map { g =>
        val child = cheapestChild(g)
        MatchedNode(withChildren(g, Vector(child.requested)), structOf(Vector(child)), AsIs)
      })
      .getOrElse(whole(group.getType(0)))
  }

  /** Returns a node with all its children. Spark reads their values as values of their physical types. */
  def whole(file: ParquetType): MatchedNode = MatchedNode(file, typeOf(file), AsIs)

  def structOf(children: Vector[MatchedNode]): SparkStruct =
    SparkStruct(children.map(c => StructField(c.requested.getName, c.dataType)))

  private def typeOf(file: ParquetType): DataType = {
    val valueType = file match {
      case primitive: ParquetPrimitive => PrimitiveConversion.physical(primitive)
      case group: GroupType => shapeOf(group) match {
          case Some(shape: ListShape) => ArrayType(typeOfPart(shape.element))
          case Some(MapShape(keyValue)) => SparkMap(typeOfPart(keyValue.getType(0)), typeOfPart(keyValue.getType(1)))
          case Some(Struct) | None =>
            SparkStruct(childrenOf(group).map(c => StructField(c.getName, typeOf(c))))
        }
    }
    if (file.isRepetition(REPEATED)) ArrayType(valueType) else valueType
  }

  /**
   * Returns the type of an element, key or value. In a two-level list, the repeated field is the element; it is not
   * another list.
   */
  private def typeOfPart(file: ParquetType): DataType = typeOf(file) match {
    case ArrayType(element, _) if file.isRepetition(REPEATED) => element
    case other => other
  }
}
