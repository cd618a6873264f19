package iceberglite.spec.schema

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported, ValidationFailed}
import iceberglite.spec.types.{DefaultValue, NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/** Checks the rules for schemas of tables (spec: "Schemas and Data Types", "Identifier Field IDs"). */
object SchemaCheck {

  /** Checks a schema. @throws IcebergError if it is invalid; the message names the column and the violated rule */
  def apply(schema: Schema, version: FormatVersion): Unit = {
    val allFields = Schema.fieldsOf(schema.asStruct)
    checkIds(schema, allFields)
    checkNames(schema.asStruct, "")
    checkFullNames(schema)
    allFields.foreach { field =>
      val name = schema.names(field.id)
      checkType(name, field.fieldType, version)
      checkDefaults(name, field, version)
    }
    schema.identifierFieldIds.foreach(checkIdentifier(schema, _))
  }

  /** Checks that a type and all its nested types are allowed in a format version. */
  def checkType(name: String, t: Type, version: FormatVersion): Unit = t match {
    case nested: NestedType => nested.fields.foreach(f => checkType(s"$name.${f.name}", f.fieldType, version))
    case DecimalType(precision, _) if precision < 1 || precision > 38 =>
      throw InvalidArgument(s"type of column $name", t.toString, "The precision of a decimal must be from 1 to 38")
    case FixedType(length) if length < 1 =>
      throw InvalidArgument(s"type of column $name", t.toString, "The length of a fixed must be at least 1")
    case p: PrimitiveType =>
      if (version < minVersion(p)) {
        throw Unsupported(
          s"type $p of column $name in a table of format version $version",
          s"Set the table property format-version to ${minVersion(p)}, or use another type"
        )
      }
  }

  /** Checks that the format version is at least 3 and therefore allows defaults (spec: "Appendix E: Version 3"). */
  def requireDefaultsAllowed(name: String, version: FormatVersion): Unit = if (version < FormatVersion.V3) {
    throw Unsupported(
      s"a default for column $name in a table of format version $version",
      "Set the table property format-version to 3, or remove the default"
    )
  }

  private def checkIds(schema: Schema, allFields: Vector[NestedField]): Unit = {
    val ids = allFields.map(_.id)
    ids.diff(ids.distinct).headOption.foreach { id =>
      val names = allFields.filter(_.id == id).map(_.name).mkString(" and ")
      throw ValidationFailed(s"The columns $names have the same field id $id, but field ids must be unique")
    }
    allFields.find(_.id > Schema.MaxFieldId).foreach { f =>
      throw ValidationFailed(
        s"Column ${schema.names(f.id)} has the reserved field id ${f.id}; the highest allowed id is " +
          Schema.MaxFieldId
      )
    }
  }

  /** Checks that no struct has two fields with the same name or a field without a name. */
  private def checkNames(t: Type, prefix: String): Unit = t match {
    case nested: NestedType =>
      val names = nested.fields.map(_.name)
      names.diff(names.distinct).headOption.foreach { name =>
        throw InvalidArgument("column name", prefix + name, "Two columns have this name, but names must be unique")
      }
      names.find(_.isEmpty).foreach(_ => throw InvalidArgument("column name", s"$prefix''", "It must not be empty"))
      nested.fields.foreach(f => checkNames(f.fieldType, s"$prefix${f.name}."))
    case _: PrimitiveType => ()
  }

  /** Checks that a name with dots is not also the full name of a nested field, because statements could mean either. */
  private def checkFullNames(schema: Schema): Unit = {
    val names = schema.names.values.toVector
    names.diff(names.distinct).sorted.headOption.foreach { name =>
      throw InvalidArgument(
        "column name",
        name,
        "A column and a nested field have this full name, but full names must be unique"
      )
    }
  }

  private def checkDefaults(name: String, field: NestedField, version: FormatVersion): Unit = {
    if (field.required && field.fieldType == UnknownType) {
      throw InvalidArgument(s"type of column $name", "unknown", "All values are null, so the column cannot be NOT NULL")
    }
    // Only initial defaults require version 3 here. A write default, which another writer may have added to a table of
    // version 1 or 2, does not change how existing rows are read.
    if (field.initialDefault.isDefined) requireDefaultsAllowed(name, version)
    (field.initialDefault ++ field.writeDefault).foreach(checkDefault(name, field.fieldType, _))
  }

  private def checkDefault(name: String, fieldType: Type, value: DefaultValue): Unit =
    DefaultValue.invalidReason(value, fieldType).foreach { fault =>
      throw InvalidArgument(s"default of column $name", value.toString, fault)
    }

  private def checkIdentifier(schema: Schema, id: Int): Unit = {
    def reject(name: String, reason: String): Nothing =
      throw InvalidArgument("identifier field", name, reason)
    val field = schema.byId.getOrElse(id, reject(id.toString, "The schema has no field with this id"))
    val name = schema.names(id)
    field.fieldType match {
      case _: NestedType | VariantType | _: GeometryType | _: GeographyType | FloatType | DoubleType =>
        reject(name, s"It has the type ${field.fieldType}, but must be primitive and not a float, double or geo type")
      case _: PrimitiveType => ()
    }
    if (field.optional) reject(name, "It may be null, but must be NOT NULL")
    schema.ancestors(id).foreach { parent =>
      if (!parent.fieldType.isInstanceOf[StructType])
        reject(name, s"It is inside a ${parent.fieldType}, but only structs may enclose it")
      if (parent.optional) reject(name, s"It is inside ${schema.names(parent.id)}, which must be NOT NULL")
    }
  }
}
