package iceberglite.spec.update

import iceberglite.spec.{FormatVersion, ObjectKind}
import iceberglite.spec.IcebergError.{ColumnExists, InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.{ColumnPath, DeclaredType, FieldEdit, Schema, SchemaCheck}
import iceberglite.spec.types.{DefaultValue, NestedField, Type}
import iceberglite.spec.types.Type._
import iceberglite.spec.update.MetadataUpdate.{AddSchema, LastAdded, SetCurrentSchema}

/**
 * A sequence of changes to a table's columns (spec: "Schema Evolution"). Each change is applied to the result of the
 * previous changes. Therefore, if a column is dropped and added again, it is a new column with a new id. The object is
 * immutable: every change returns a new object.
 *
 * Columns are identified by their paths (see [[ColumnPath]]).
 *
 * @param schema the schema after the changes, which still has the id of the original schema
 * @param lastColumnId the highest assigned field id; ids are never reused
 */
final class SchemaChanges private (
    val schema: Schema,
    val lastColumnId: Int,
    version: FormatVersion,
    caseSensitive: Boolean,
    references: ColumnReferences,
    added: Set[Int],
    declared: Map[Int, Option[String]]
) {

  /**
   * Adds a column at the end of the table or, if there is a parent, at the end of the parent struct. If the parent is a
   * list whose elements are structs, or a map whose values are structs, the column is added to these structs.
   *
   * @param parent the path of the enclosing field; empty for a top-level column
   * @param fieldType the type of the column; its nested fields get new ids
   * @param default the initial default and write default of the column. It is allowed in version 3 and later, and it is
   *   mandatory for a required column
   */
  def addColumn(
      parent: Vector[String],
      name: String,
      fieldType: Type,
      doc: Option[String] = None,
      required: Boolean = false,
      default: Option[DefaultValue] = None
  ): SchemaChanges = {
    val fieldPath = if (parent.isEmpty) Vector.empty else structPath(parent, name)
    val fullName = (parent :+ name).mkString(".")
    if (required && default.isEmpty) {
      throw ValidationFailed(
        s"Cannot add required column $fullName: existing rows have no value for it. Add the column as an optional " +
          "column, or with a default (format version 3)"
      )
    }
    SchemaCheck.checkType(fullName, fieldType, version)
    var last = lastColumnId
    val numbered = Schema.withFreshIds(
      Vector(NestedField(0, name, fieldType, required, doc, default, default)),
      () => { last += 1; last }
    )
    val newFields = Schema.fieldsOf(StructType(numbered))
    val hasDefault = newFields.exists(f => f.initialDefault.orElse(f.writeDefault).isDefined)
    if (hasDefault) SchemaCheck.requireDefaultsAllowed(fullName, version)
    editFields(fieldPath) { siblings =>
      requireUnused(siblings, name, fullName, "add")
      siblings ++ numbered
    }.copyWith(lastId = last, newlyAdded = added ++ numbered.map(_.id))
  }

  /** Drops a column. Its id is never reused. */
  def dropColumn(path: Vector[String]): SchemaChanges = {
    val fieldPath = structField(path, "drop")
    val dropped = (fieldPath.last +: Schema.fieldsOf(fieldPath.last.fieldType)).map(_.id).toSet
    references.checkDroppable(path.mkString("."), dropped)
    schema.identifierFieldIds.find(dropped).foreach { id =>
      throw ValidationFailed(
        s"Cannot drop column ${path.mkString(".")}: ${schema.names(id)} is an identifier field. Change the " +
          "identifier fields first"
      )
    }
    editFields(fieldPath.init)(_.filterNot(_.id == fieldPath.last.id))
  }

  def renameColumn(path: Vector[String], newName: String): SchemaChanges = {
    val fieldPath = structField(path, "rename")
    val id = fieldPath.last.id
    editFields(fieldPath.init) { siblings =>
      requireUnused(siblings.filterNot(_.id == id), newName, (path.init :+ newName).mkString("."), "rename")
      siblings.map(f => if (f.id == id) f.copy(name = newName) else f)
    }
  }

  /** Promotes a column to a wider type. */
  def updateType(path: Vector[String], fieldType: Type): SchemaChanges = {
    val (field, name) = (requireField(path), path.mkString("."))
    if (field.fieldType == fieldType) this
    else {
      val fieldPath = requireChangeable(path, "change the type of")
      SchemaCheck.checkType(name, fieldType, version)
      if (!canPromote(field.fieldType, fieldType, version)) {
        throw ValidationFailed(s"Cannot change column $name from ${field.fieldType} to $fieldType: $allowedPromotions")
      }
      references.checkPromotable(name, field.id, field.fieldType, fieldType)
      references.checkSortable(name, field.id, fieldType)
      var last = lastColumnId
      val numbered = Schema.freshIds(fieldType, () => { last += 1; last })
      val wider = replaceField(fieldPath)(_.copy(fieldType = numbered))
      // The default of an enclosing list or map may contain values of the column.
      val fields = FieldEdit.editPath(wider.schema.fields, fieldPath.map(_.id).toList, FieldEdit.promoteDefaults(name))
      wider.copyWith(schema = wider.schema.copy(fields = fields), lastId = last)
    }
  }

  def updateDoc(path: Vector[String], doc: Option[String]): SchemaChanges =
    if (requireField(path).doc == doc) this else replaceField(structField(path, "comment on"))(_.copy(doc = doc))

  /** Sets the declared type of a column (see [[DeclaredType]]). @param text the type; `None` removes the declaration */
  def declareType(path: Vector[String], text: Option[String]): SchemaChanges =
    copyWith(declared = declared + (requireField(path).id -> text))

  /**
   * Returns the table properties of declared types that the changes set, and the keys of the table properties that the
   * changes remove.
   */
  def declaredTypes: (Map[String, String], Set[String]) = {
    val (set, removed) = declared.filter(d => schema.byId.contains(d._1)).partition(_._2.isDefined)
    (set.flatMap { case (id, text) => text.map(DeclaredType.key(id) -> _) }, removed.keySet.map(DeclaredType.key))
  }

  /** Changes the write default of a column; existing rows keep their values. */
  def updateDefault(path: Vector[String], default: Option[DefaultValue]): SchemaChanges = {
    val fieldPath = structField(path, "set a default for")
    if (default.isDefined) SchemaCheck.requireDefaultsAllowed(path.mkString("."), version)
    replaceField(fieldPath)(_.copy(writeDefault = default))
  }

  def makeOptional(path: Vector[String]): SchemaChanges =
    if (requireField(path).optional) this
    else replaceField(requireChangeable(path, "make optional"))(_.copy(required = false))

  /**
   * Makes a column required. This has no effect if the column is already required. An optional column can be made
   * required only if the same sequence of changes has added it with a default.
   */
  def requireColumn(path: Vector[String]): SchemaChanges = {
    val field = requireField(path)
    if (field.required) this
    else if (added(field.id) && field.initialDefault.isDefined) {
      replaceField(requireChangeable(path, "require"))(_.copy(required = true))
    } else {
      throw ValidationFailed(
        s"Cannot make column ${path.mkString(".")} required: existing rows may contain null. " +
          "Copy the data into a new table whose column is NOT NULL"
      )
    }
  }

  def moveFirst(path: Vector[String]): SchemaChanges = move(path)((field, others) => field +: others)

  /** Moves a column. @param sibling the name of a column in the same struct */
  def moveAfter(path: Vector[String], sibling: String): SchemaChanges =
    move(path) { (field, others) =>
      val (before, after) = others.splitAt(position(path, others, sibling) + 1)
      (before :+ field) ++ after
    }

  /**
   * Merges the columns of another schema into the columns of this schema, by name (see [[SchemaUnion]]). New columns
   * are optional, and are added at the end of their struct.
   *
   * @throws IcebergError if columns with the same name have incompatible types
   */
  def unionByNameWith(other: Schema): SchemaChanges =
    new SchemaUnion(version, caseSensitive).mergeStruct(this, Vector.empty, schema.fields, other.fields)

  /** Replaces the identifier fields of the schema. */
  def setIdentifierFields(paths: Seq[Vector[String]]): SchemaChanges = {
    val ids = paths.map(requireField(_).id).toSet
    copyWith(schema = schema.copy(identifierFieldIds = ids))
  }

  /**
   * Returns the schema after the changes, and the highest assigned field id.
   *
   * @throws IcebergError if the columns violate a rule of [[SchemaCheck]], or if a new or renamed column has the name
   *   of a partition field
   */
  def result: (Schema, Int) = {
    SchemaCheck(schema, version)
    references.checkNames(schema)
    (schema, lastColumnId)
  }

  /** Returns the changes as metadata updates. */
  def updates: Vector[MetadataUpdate] = {
    val (changed, last) = result
    Vector(AddSchema(changed, last), SetCurrentSchema(LastAdded))
  }

  private def move(path: Vector[String])(insert: (NestedField, Vector[NestedField]) => Vector[NestedField]) = {
    val fieldPath = structField(path, "move")
    editFields(fieldPath.init)(siblings => insert(fieldPath.last, siblings.filterNot(_.id == fieldPath.last.id)))
  }

  private def position(path: Vector[String], others: Vector[NestedField], sibling: String): Int =
    ColumnPath.child(others, sibling, caseSensitive).fold {
      throw NotFound(
        ObjectKind.Column,
        sibling,
        s"Column ${path.mkString(".")} can only move within its struct, next to ${others.map(_.name).mkString(", ")}"
      )
    }(others.indexOf(_))

  /** Rejects a name that another field of a struct has. @param operation what the change does, for the error */
  private def requireUnused(
      siblings: Vector[NestedField],
      name: String,
      fullName: String,
      operation: String
  ): Unit = {
    if (name.isEmpty) throw InvalidArgument("column name", s"'$fullName'", "It must not be empty")
    val isTaken = if (caseSensitive) siblings.exists(_.name == name) else siblings.exists(_.name.equalsIgnoreCase(name))
    if (isTaken) throw ColumnExists(operation, fullName, StructType(schema.fields).toString)
  }

  private def requireField(path: Vector[String]): NestedField = ColumnPath.require(schema, path, caseSensitive).last

  /**
   * Returns the fields on the path to a struct. If the path leads to a list or map of structs, the element or value
   * field is appended.
   */
  private def structPath(path: Vector[String], newColumn: String): Vector[NestedField] = {
    val fieldPath = requireChangeable(path, "add fields to")
    fieldPath.last.fieldType match {
      case _: StructType => fieldPath
      case list @ ListType(_, _: StructType, _) => fieldPath :+ list.elementField
      case map @ MapType(_, _, _, _: StructType, _) => fieldPath :+ map.valueField
      case other =>
        throw InvalidArgument(
          s"parent of column $newColumn",
          path.mkString("."),
          s"It has the type $other, but only structs have fields"
        )
    }
  }

  /** Returns the fields on the path to a field of a struct. List elements, map keys and map values are rejected. */
  private def structField(path: Vector[String], verb: String): Vector[NestedField] = {
    val fieldPath = requireChangeable(path, verb)
    fieldPath.init.lastOption.filterNot(_.fieldType.isInstanceOf[StructType]).foreach { parent =>
      throw ValidationFailed(
        s"Cannot $verb ${path.mkString(".")}: it is a part of ${schema.names(parent.id)}, a ${parent.fieldType}"
      )
    }
    fieldPath
  }

  /**
   * Returns the fields on the path to a field. The key of a map, and fields inside the key, are rejected, because a
   * change to such a field could change which keys are equal.
   */
  private def requireChangeable(path: Vector[String], verb: String): Vector[NestedField] = {
    val fieldPath = ColumnPath.require(schema, path, caseSensitive)
    val keys = fieldPath.map(_.fieldType).collect { case m: MapType => m.keyId }
    fieldPath.find(f => keys.contains(f.id)).foreach { key =>
      throw ValidationFailed(
        s"Cannot $verb ${path.mkString(".")}: ${schema.names(key.id)} is the key of a map, and map keys cannot change"
      )
    }
    fieldPath
  }

  private def replaceField(fieldPath: Vector[NestedField])(edit: NestedField => NestedField): SchemaChanges =
    editFields(fieldPath.init)(_.map(f => if (f.id == fieldPath.last.id) edit(f) else f))

  /** Edits the child fields of the field at a path. For the empty path, edits the top-level columns. */
  private def editFields(fieldPath: Vector[NestedField])(edit: Vector[NestedField] => Vector[NestedField])
      : SchemaChanges =
    copyWith(schema = schema.copy(fields = FieldEdit(schema.fields, fieldPath.map(_.id).toList, edit)))

  private def allowedPromotions: String = {
    val rules = "only int to long, float to double and a wider decimal of the same scale keep old files readable"
    if (version < FormatVersion.V3) rules else s"$rules, and date to timestamp or timestamp_ns and unknown to any type"
  }

  private def copyWith(
      schema: Schema = schema,
      lastId: Int = lastColumnId,
      newlyAdded: Set[Int] = added,
      declared: Map[Int, Option[String]] = declared
  ): SchemaChanges = new SchemaChanges(schema, lastId, version, caseSensitive, references, newlyAdded, declared)
}

object SchemaChanges {

  /**
   * Starts a sequence of changes.
   *
   * @param caseSensitive whether names must match exactly; if false, no two columns may have names that differ only in
   *   case
   */
  def apply(metadata: TableMetadata, caseSensitive: Boolean = true): SchemaChanges = new SchemaChanges(
    metadata.schema,
    metadata.lastColumnId,
    metadata.formatVersion,
    caseSensitive,
    ColumnReferences.of(metadata),
    Set.empty,
    Map.empty
  )
}
