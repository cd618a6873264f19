package iceberglite.encryption

import java.io.InputStream
import java.nio.file.{Files, Paths}
import java.security.{GeneralSecurityException, KeyStore}
import javax.crypto.SecretKey

import scala.collection.JavaConverters._

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Keeps master keys in a key store file of Java, for tests and single machines. The id of a master key is its alias in
 * the key store. The master keys are in the memory of the driver.
 */
final class KeyStoreManagement extends KeyManagement {
  import KeyStoreManagement._

  @volatile private var keys: Map[String, SecretKey] = Map.empty
  @volatile private var path: String = ""

  override def initialize(properties: java.util.Map[String, String]): Unit = {
    path = Option(properties.get(PathOption)).getOrElse(throw InvalidArgument(
      PathOption,
      "",
      "It must be the path of a key store file, such as one that the command keytool -genseckey created"
    ))
    keys = load(password(properties.asScala.toMap))
  }

  private def load(password: Array[Char]): Map[String, SecretKey] = {
    val in = open()
    try {
      val store = KeyStore.getInstance("PKCS12")
      store.load(in, password)
      store.aliases.asScala.flatMap { alias =>
        store.getKey(alias, password) match {
          case key: SecretKey if AesGcm.KeyLengths(key.getEncoded.length) => Some(alias -> key)
          case _ => None
        }
      }.toMap
    } catch {
      case e @ (_: java.io.IOException | _: GeneralSecurityException) => throw InvalidArgument(
          PathOption,
          path,
          s"The file is not a PKCS12 key store, or the password is wrong (${e.getClass.getSimpleName})"
        )
    } finally {
      in.close()
      java.util.Arrays.fill(password, ' ')
    }
  }

  private def open(): InputStream =
    try Files.newInputStream(Paths.get(path))
    catch {
      case e: java.io.IOException =>
        throw InvalidArgument(PathOption, path, s"The file cannot be read (${e.getClass.getSimpleName})")
    }

  private def masterKey(id: String): AesGcm = new AesGcm(keys.getOrElse(
    // Apache Iceberg and Java do not distinguish aliases by case.
    id,
    keys.collectFirst { case (alias, key) if alias.equalsIgnoreCase(id) => key }.getOrElse(
      throw InvalidArgument("encryption.key-id", id, s"The key store $path has no AES key with this alias")
    )
  ).getEncoded)

  override def wrapKey(key: Array[Byte], wrappingKeyId: String): Array[Byte] =
    masterKey(wrappingKeyId).encrypt(key, Array.emptyByteArray)

  override def unwrapKey(wrappedKey: Array[Byte], wrappingKeyId: String): Array[Byte] =
    masterKey(wrappingKeyId).decrypt(wrappedKey, Array.emptyByteArray).getOrElse(throw InvalidArgument(
      "encryption.key-id",
      wrappingKeyId,
      s"The key with this alias in the key store $path is not the one that encrypted the table"
    ))
}

object KeyStoreManagement {
  val PathOption = "encryption.keystore.path"
  val PasswordEnvOption = "encryption.keystore.password-env"
  val PasswordFileOption = "encryption.keystore.password-file"

  private def password(options: Map[String, String]): Array[Char] =
    (options.get(PasswordEnvOption), options.get(PasswordFileOption)) match {
      case (Some(variable), None) => Option(System.getenv(variable)).getOrElse(throw InvalidArgument(
          PasswordEnvOption,
          variable,
          "The driver has no environment variable of this name. It must contain the password of the key store"
        )).toCharArray
      case (None, Some(file)) => passwordIn(file)
      case _ => throw InvalidArgument(
          s"$PasswordEnvOption and $PasswordFileOption",
          "",
          "Set one of them: the name of the environment variable, or the path of the file, that contains the password"
        )
    }

  private def passwordIn(file: String): Array[Char] =
    try new String(Files.readAllBytes(Paths.get(file)), "UTF-8").stripLineEnd.toCharArray
    catch {
      case e: java.io.IOException =>
        throw InvalidArgument(PasswordFileOption, file, s"The file cannot be read (${e.getClass.getSimpleName})")
    }
}
