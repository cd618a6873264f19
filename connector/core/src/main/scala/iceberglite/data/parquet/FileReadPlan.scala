package iceberglite.data.parquet

import org.apache.parquet.io.api.Converter
import org.apache.parquet.schema.Type.Repetition.REPEATED
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType}

import iceberglite.data.{DataSource, FieldSource, Projection}
import iceberglite.parquet.ParquetShapes._
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.{NestedType, PrimitiveType, Type, VariantFields}
import iceberglite.spec.types.Type._

/**
 * The read plan of a file. Columns are matched by field id at every level (spec: "Column Projection").
 *
 * @param requested the part of the file's schema that is read
 * @param records creates the records from the values of the columns
 * @param positions the indexes in a record of the columns that contain the row position
 */
final private[parquet] case class FileReadPlan(requested: MessageType, records: RootMaterializer, positions: Array[Int])

private[parquet] object FileReadPlan {

  /**
   * Returns the read plan of a file.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the type of a column cannot be read as the expected type,
   *   or if the file lacks a required column
   */
  def of(file: MessageType, source: DataSource, expected: StructType): FileReadPlan = {
    val matching = new SchemaMatcher(source)
    val positions = expected.fields.indices.filter(i => expected.fields(i).id == MetadataColumns.Position.id).toArray
    val parts = matching.struct(ParquetNameMapping.withIds(file, source.nameMapping, expected), expected, Vector.empty)
    val root = new StructConverter(parts.template, parts.children, _: ValueReceiver)
    FileReadPlan(withChildren(file, parts.requested), new RootMaterializer(root), positions)
  }

  /** The parts of a struct's read plan. They are described as parameters of [[StructConverter]]. */
  final private case class Parts(template: Array[AnyRef], children: Array[(ColumnReader, Int)]) {
    def requested: Vector[ParquetType] = children.toVector.map(_._1.requested)
  }

  final private class SchemaMatcher(source: DataSource) {

    private val projection = Projection.ofRecords(source.path, source.constants)

    def struct(group: GroupType, expected: StructType, path: Vector[String]): Parts = {
      val stored = childrenOf(group)
      val template = new Array[AnyRef](expected.fields.size)
      val sources = projection.sources(expected, stored.map(idOf), path)
      val children = expected.fields.indices.flatMap { i =>
        val field = expected.fields(i)
        sources(i) match {
          case FieldSource.Stored(index) if field.fieldType != UnknownType =>
            Some((index, node(stored(index), field.fieldType, path :+ field.name, isPart = false), i))
          case FieldSource.Constant(value) =>
            template(i) = value
            None
          case FieldSource.Stored(_) | FieldSource.RowPosition => None
        }
      }
      // Parquet requires the columns in file order.
      Parts(template, children.sortBy(_._1).map { case (_, child, i) => child -> i }.toArray)
    }

    /**
     * Returns the read plan of a node.
     *
     * @param isPart whether the node is the element of a list, or the key or value of a map. In two-level lists, the
     *   node may be a repeated field
     */
    private def node(file: ParquetType, expected: Type, path: Vector[String], isPart: Boolean): ColumnReader = {
      def failMismatch = projection.fail(
        path,
        s"The Parquet type ${file.toString.replaceAll("\\s+", " ")} cannot be read as $expected, the table's type. " +
          "Rewrite the file with the table's type, or do not select the column"
      )
      (file, expected) match {
        case _ if file.isRepetition(REPEATED) && !isPart => failMismatch
        case (group: GroupType, VariantType) => variant(group, path).getOrElse(failMismatch)
        case (primitive: ParquetPrimitive, t: PrimitiveType) =>
          ColumnReader.of(primitive, t, projection.fail(path, _)).getOrElse(failMismatch)
        case (group: GroupType, t: NestedType) =>
          (shapeOf(group), t) match {
            case (Some(Struct), s: StructType) => structNode(group, s, path)
            case (Some(shape: ListShape), l: ListType) => listNode(group, shape, l, path)
            case (Some(MapShape(keyValue)), m: MapType) => mapNode(group, keyValue, m, path)
            case _ => failMismatch
          }
        case _ => failMismatch
      }
    }

    private def structNode(group: GroupType, expected: StructType, path: Vector[String]): ColumnReader = {
      val parts = struct(group, expected, path)
      // If no child were read, it would be unknown whether the struct is null.
      val children = if (parts.children.isEmpty) Array(presenceColumn(group) -> -1) else parts.children
      val requested = withChildren(group, children.toVector.map(_._1.requested))
      ColumnReader(requested, new StructConverter(parts.template, children, _))
    }

    private def listNode(group: GroupType, shape: ListShape, expected: ListType, path: Vector[String]): ColumnReader = {
      val elementPath = path :+ "element"
      val element = node(shape.element, expected.element, elementPath, isPart = true)
      val (repeated, entry): (ParquetType, ValueReceiver => Converter) =
        if (shape.twoLevel) (element.requested, element.converter)
        else (
          withChildren(shape.repeated.asGroupType, Vector(element.requested)),
          new ElementConverter(element, _)
        )
      ColumnReader(withChildren(group, Vector(repeated)), new RepeatedConverter(entry, _))
    }

    private def mapNode(
        group: GroupType,
        keyValue: GroupType,
        expected: MapType,
        path: Vector[String]
    ): ColumnReader = {
      val key = node(keyValue.getType(0), expected.key, path :+ "key", isPart = true)
      val value = node(keyValue.getType(1), expected.value, path :+ "value", isPart = true)
      val entries = withChildren(keyValue, Vector(key.requested, value.requested))
      ColumnReader(
        withChildren(group, Vector(entries)),
        new RepeatedConverter(new EntryConverter(key, value, _), _)
      )
    }

    /**
     * Returns the read plan of a variant, which is a group of `metadata`, `value` and, if the variant is shredded,
     * `typed_value`.
     */
    private def variant(group: GroupType, path: Vector[String]): Option[ColumnReader] = {
      val parts = childrenOf(group).map {
        case p: ParquetPrimitive if VariantFields.Encoded.contains(p.getName) =>
          ColumnReader.of(p, BinaryType, projection.fail(path, _))
        case other => Some(presence(other))
      }
      val names = childrenOf(group).map(_.getName)
      if (parts.forall(_.isDefined) && names.contains(VariantFields.Metadata)) {
        Some(ColumnReader(group, new VariantConverter(parts.flatten, path.mkString("."), _)))
      } else None
    }

    /** Returns a column that shows whether a struct is null, preferably a primitive column, which is cheap to read. */
    private def presenceColumn(group: GroupType): ColumnReader = {
      val children = childrenOf(group)
      val cheapest = children.find(c => c.isPrimitive && !c.isRepetition(REPEATED)).getOrElse(children.head)
      presence(cheapest)
    }

    private def presence(file: ParquetType): ColumnReader = file match {
      case primitive: ParquetPrimitive => ColumnReader(primitive, new PresenceConverter(_))
      case group: GroupType =>
        val children = childrenOf(group).map(presence)
        ColumnReader(
          group,
          slot => new PresenceConverter.OfGroup(children.map(_.converter(ValueReceiver.Discarded)).toArray, slot)
        )
    }
  }
}
