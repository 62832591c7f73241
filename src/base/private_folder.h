// Folders of files that are executed later: what lies in them was written by this user, or it is not looked at.
#pragma once
#include <string>

namespace warpbeam {

// Makes the folder where it is missing, open to this user alone, and says whether it can be used: it is this user's, nobody else can
// write to it, and this user can. A folder of the user's that his group could write to is closed to it.
bool make_private_folder(const std::string& path);

// Whether nobody but this user, root and the owner of `with` can have written what lies in the folder.
bool is_trusted_folder(const std::string& path, const std::string& with);

}  // namespace warpbeam
